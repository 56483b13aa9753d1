package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sharehook/sharehook/config"
)

func validateCommand(f *flags) *cobra.Command {
	var printIt bool
	cmd := &cobra.Command{
		Use:   "validate",
		Short: "Find every fault of the file",
		Long: `Reads the file and prints all of its faults, each with file, line and column, or
one line that sums it up. It connects to nothing.`,
		Example: `  sharehook validate -c sharehook.yaml
  sharehook validate -c sharehook.yaml --print    the file with every default
  sharehook validate -c sharehook.yaml --output json`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := f.loadWhole()
			out := cmd.OutOrStdout()
			if f.json() && (err == nil || len(problems(err)) > 0) && !printIt {
				if perr := printJSON(out, report(cfg, problems(err))); perr != nil {
					return perr
				}
				return err
			}
			switch {
			case err != nil:
				return err
			case printIt && f.json():
				return failed(cfg.PrintJSON(out))
			case printIt:
				return failed(cfg.Print(out))
			}
			_, err = fmt.Fprintln(out, cfg.Summary())
			return failed(err)
		},
	}
	cmd.Flags().BoolVar(&printIt, "print", false, "print the effective file: every default filled in, secrets hidden")
	return cmd
}

// validation is what validate prints as JSON.
type validation struct {
	Valid    bool      `json:"valid"`
	Summary  string    `json:"summary,omitempty"`
	Problems []problem `json:"problems"`
}

type problem struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

func report(cfg *config.Config, faults config.Problems) validation {
	v := validation{Valid: len(faults) == 0, Problems: []problem{}}
	if v.Valid {
		v.Summary = cfg.Summary()
	}
	for _, p := range faults {
		v.Problems = append(v.Problems, problem(p))
	}
	return v
}
