package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sharehook/sharehook/config"
)

func schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of the file, for editors",
		Example: `  sharehook schema > sharehook.schema.json
  # and as the first line of the file:
  # yaml-language-server: $schema=sharehook.schema.json`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s\n", config.Schema())
			return failed(err)
		},
	}
}
