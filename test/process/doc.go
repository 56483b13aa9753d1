// Package process tests the built program as its users run it: `sharehook run`
// and the other commands as processes of their own, on a real Apache Kafka,
// with HTTP endpoints in the test that record every POST and answer by script.
//
// What must not happen to a record is looked for in a ledger: whatever is done
// to the processes and the brokers, each record that was produced ends in
// exactly one of: answered 2xx, dead letter. POSTs of a record beyond what its
// answers asked for are counted, and bounded by what the scenario had under
// way when it struck.
//
// It has tests only, built with the tag kafka. They share few clusters and run
// beside each other: each scenario has topics and groups of its own.
package process
