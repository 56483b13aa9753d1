// Command sharehook pushes the records of Kafka topics to HTTP endpoints.
//
// This package is flags, signals and printing, with one small file for each
// subcommand. What they do is done by package gateway.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/sharehook/sharehook/config"
)

// Exit codes.
const (
	exitWell   = 0
	exitFailed = 1 // it was tried and failed
	exitUsage  = 2 // wrong use, or a faulty or missing file
)

func main() { os.Exit(execute(os.Args[1:], os.Stdout, os.Stderr)) }

// execute runs a command line and returns its exit code.
func execute(args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(context.Background())
	if err == nil {
		return exitWell
	}
	if failed, ok := errors.AsType[failure](err); ok {
		_, _ = fmt.Fprintln(stderr, "sharehook:", failed.error)
		return exitFailed
	}
	if problems, ok := errors.AsType[config.Problems](err); ok {
		_, _ = fmt.Fprintln(stderr, problems) // each line names its place already
		return exitUsage
	}
	_, _ = fmt.Fprintln(stderr, "sharehook:", err)
	return exitUsage
}

// failure is the error of a command that was called well and failed. All
// others are wrong use.
type failure struct{ error }

func (f failure) Unwrap() error { return f.error }

// failed makes an error a failure.
func failed(err error) error {
	if err == nil {
		return nil
	}
	return failure{err}
}

func newRoot() *cobra.Command {
	var f flags
	root := &cobra.Command{
		Use:   "sharehook",
		Short: "Push the records of Kafka topics to HTTP endpoints",
		Long: `Sharehook acquires records from Kafka share groups (KIP-932), POSTs each to the
HTTP endpoint registered for it in a YAML file and acknowledges it by the
answer: 2xx accepts, 5xx or a timeout releases, 4xx rejects, which makes the
record a dead letter.`,
		Example: `  sharehook dev                        try it on this machine, without Kafka
  sharehook validate -c sharehook.yaml  find every fault of a file
  sharehook run -c sharehook.yaml       run the gateway`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_ = cmd.Help()
			return errors.New("name a command")
		},
		PersistentPreRunE: func(*cobra.Command, []string) error { return f.check() },
	}
	f.register(root)
	root.AddCommand(
		runCommand(&f), devCommand(&f), validateCommand(&f), provisionCommand(&f), schemaCommand(), versionCommand(&f),
	)
	return root
}
