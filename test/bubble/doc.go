// Package bubble tests the whole gateway in fake time: a broker (kfake), the
// HTTP endpoints and the gateway itself, built from the text of a
// configuration file, speak over a network in memory, within one
// testing/synctest bubble for each scenario. So a scenario of minutes takes
// milliseconds, and its schedule is exact.
//
// It has tests only. A scenario makes a bed, says what the endpoint answers to
// which attempt, produces records, and in the end has the bed account for each
// of them: accepted or dead letter, and never both.
//
// kfake is not Kafka where brokers write dead letters, throttle or move
// leaders; those promises are tried on a real broker elsewhere.
package bubble
