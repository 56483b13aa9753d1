package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sharehook/sharehook/cmd/sharehook/dev"
	"github.com/sharehook/sharehook/config"
)

// noColour, set to anything, asks programs for plain text (no-color.org).
const noColour = "NO_COLOR" //nolint:misspell // its name

func devCommand(f *flags) *cobra.Command {
	var records int
	var printIt bool
	cmd := &cobra.Command{
		Use:   "dev",
		Short: "Try it on this machine, without Kafka",
		Long: `Runs everything on this machine without any set-up: an embedded broker, a sample
receiver, sample records and the gateway. Each delivery is printed; a table
follows at the end, which is Ctrl-C or --records.

With -c the file's endpoints take the place of the sample's: sample records are
produced to their topics, on the embedded broker, and posted to their URLs. The
file's kafka section is not used, and dead letters are written by the gateway,
as the embedded broker writes none. SHAREHOOK_CONFIG and sharehook.yaml are not
looked at: records that somebody made up go only to endpoints that were named.`,
		Example: `  sharehook dev
  sharehook dev --records 200
  sharehook dev --records 200 --output json
  sharehook dev -c sharehook.yaml
  sharehook dev --print > sharehook.yaml    the sample's file, to begin with`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if records < 0 {
				return fmt.Errorf("--records %d: it is a number above 0, or 0 for no end", records)
			}
			out := cmd.OutOrStdout()
			if printIt {
				return printSample(out, f)
			}
			o, err := f.devOptions(cmd)
			if err != nil {
				return err
			}
			o.Records = records
			s := watchSignals(cmd.Context(), o.Logger)
			defer s.stop()
			o.Kill = s.kill
			summary, err := dev.Run(s.drain, o)
			if perr := printSummary(out, f, summary); err == nil {
				err = perr
			}
			return failed(err)
		},
	}
	cmd.Flags().IntVar(&records, "records", 0, "end after so many records are settled (default: no end)")
	cmd.Flags().BoolVar(&printIt, "print", false, "print the sample's file and end")
	return cmd
}

// devOptions are the options but those of dev's own flags.
func (f *flags) devOptions(cmd *cobra.Command) (dev.Options, error) {
	o := dev.Options{Version: version, Out: cmd.OutOrStdout()}
	if f.config != "" {
		var err error
		if o.Config, err = f.load(); err != nil {
			return dev.Options{}, err
		}
	}
	if f.json() {
		o.Out = cmd.ErrOrStderr() // stdout is the table's alone
	}
	o.Colour = terminal(o.Out) && os.Getenv(noColour) == "" && os.Getenv("TERM") != "dumb"
	log := *f
	if cmd.Flags().Changed("log-level") {
		o.Logger = log.logger(cmd.ErrOrStderr())
		return o, nil
	}
	log.logLevel = "warn"
	o.Logger = slog.New(withoutDeliveries{log.logger(cmd.ErrOrStderr()).Handler()})
	return o, nil
}

// withoutDeliveries leaves out of the log what dev prints in lines of its own.
type withoutDeliveries struct{ slog.Handler }

// Handle passes on what is about no delivery.
func (h withoutDeliveries) Handle(ctx context.Context, r slog.Record) error {
	if strings.HasPrefix(r.Message, "delivery.") {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs keeps leaving them out.
func (h withoutDeliveries) WithAttrs(attrs []slog.Attr) slog.Handler {
	return withoutDeliveries{h.Handler.WithAttrs(attrs)}
}

// WithGroup keeps leaving them out.
func (h withoutDeliveries) WithGroup(name string) slog.Handler {
	return withoutDeliveries{h.Handler.WithGroup(name)}
}

// printSample prints the sample's file, for a start.
func printSample(w io.Writer, f *flags) error {
	if f.config != "" {
		return errors.New("--print prints the sample's file; to see the one of -c: sharehook validate --print")
	}
	if !f.json() {
		_, err := io.WriteString(w, dev.SampleFile())
		return failed(err)
	}
	cfg, err := config.Parse("the sample", []byte(dev.SampleFile()), config.Options{})
	if err != nil {
		return failed(err)
	}
	return failed(cfg.PrintJSON(w))
}

// printSummary prints the table. There is none if nothing came to run.
func printSummary(w io.Writer, f *flags, s dev.Summary) error {
	if len(s.Endpoints) == 0 {
		return nil
	}
	if f.json() {
		return printJSON(w, s)
	}
	_, err := fmt.Fprintln(w)
	if err == nil {
		err = s.Print(w)
	}
	return failed(err)
}
