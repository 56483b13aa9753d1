package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/sharehook/sharehook/gateway"
)

// provisionWait bounds the whole of it: a broker that does not answer must not
// hold up a deployment for ever.
const provisionWait = 2 * time.Minute

func provisionCommand(f *flags) *cobra.Command {
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "provision",
		Short: "Make the cluster what the file wishes",
		Long: `Makes dead-letter topics, pins the start of new share groups and sets the
settings of share groups as the file wishes. It deletes nothing, takes no
partitions away, and does nothing where nothing is to be done.`,
		Example: `  sharehook provision -c sharehook.yaml --dry-run
  sharehook provision -c sharehook.yaml`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := f.loadWhole()
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), provisionWait)
			defer cancel()
			o := gateway.Options{Config: cfg, Version: version, Logger: f.logger(cmd.ErrOrStderr())}
			plans, err := gateway.Provision(ctx, o, dryRun)
			if perr := printPlans(cmd.OutOrStdout(), f, plans, dryRun, err != nil); perr != nil {
				return perr
			}
			return failed(err)
		},
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "print the plan and change nothing")
	return cmd
}

// printPlans prints what was planned, whether or not it was done.
func printPlans(w io.Writer, f *flags, plans []gateway.Plan, dryRun, refused bool) error {
	if f.json() {
		return printJSON(w, map[string]any{"dry_run": dryRun, "plans": plans})
	}
	n := 0
	for _, p := range plans {
		for _, c := range p.Changes {
			n++
			if _, err := fmt.Fprintf(w, "%s: %s\n    %s\n", p.Endpoint, c, c.Why); err != nil {
				return failed(err)
			}
		}
	}
	done := "made"
	switch {
	case dryRun && refused:
		done = "planned, and not all could be"
	case dryRun:
		done = "planned, none made"
	case refused:
		done = "planned, not all of them made"
	}
	_, err := fmt.Fprintf(w, "%s, %s %s\n", count(len(plans), "endpoint"), count(n, "change"), done)
	return failed(err)
}

// count is a number of things.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
