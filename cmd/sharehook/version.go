package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// Set by the linker when a release is built.
var (
	version = "devel"
	commit  = "unknown"
)

// kafkaClient is the module whose version is worth knowing: it speaks the
// share-group protocol.
const kafkaClient = "github.com/twmb/franz-go"

type versions struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Go      string `json:"go"`
	Kgo     string `json:"kgo"`
}

func versionCommand(f *flags) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print version, commit, Go and kgo",
		Example: "  sharehook version --output json",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			v := versions{Version: version, Commit: commit, Go: runtime.Version(), Kgo: "unknown"}
			if info, ok := debug.ReadBuildInfo(); ok {
				for _, m := range info.Deps {
					if m.Path == kafkaClient {
						v.Kgo = m.Version
					}
				}
			}
			if f.json() {
				return printJSON(cmd.OutOrStdout(), v)
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "sharehook %s (commit %s, %s, kgo %s)\n", v.Version, v.Commit, v.Go, v.Kgo)
			return failed(err)
		},
	}
}
