// Package rig drives the built gateway from outside: its processes and files,
// endpoints that answer by script, records that are produced for them, and the
// account of what became of each record.
//
// It is for tests and for programs that are none: [Try] makes a failure of a
// helper, which ends a test, an error. It knows nothing of what the gateway is
// made of.
//
// A [Ledger] holds that each record which was produced ends in exactly one of:
// answered 2xx, dead letter. POSTs beyond what a record's answers asked for are
// duplicates; how many there may be is for the scenario to say.
package rig
