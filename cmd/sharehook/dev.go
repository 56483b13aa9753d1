package main

import "github.com/spf13/cobra"

func devCommand(_ *flags) *cobra.Command { return &cobra.Command{Use: "dev"} }
