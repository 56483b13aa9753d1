package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/sharehook/sharehook/config"
	"github.com/sharehook/sharehook/gateway"
)

// configVariable names the file where no flag does.
const configVariable = "SHAREHOOK_CONFIG"

const defaultConfig = "sharehook.yaml"

// flags are those that all commands have.
type flags struct {
	config    string
	output    string
	logFormat string
	logLevel  string
}

func (f *flags) register(root *cobra.Command) {
	p := root.PersistentFlags()
	p.StringVarP(&f.config, "config", "c", "", "the YAML file, or a folder of them (default $"+configVariable+", else "+defaultConfig+")")
	p.StringVar(&f.output, "output", "text", "what is printed: text or json")
	p.StringVar(&f.logFormat, "log-format", "", "the log: text or json (default: text on a terminal, else json)")
	p.StringVar(&f.logLevel, "log-level", "info", "the lowest level that is logged: debug, info, warn or error")
	for name, values := range map[string][]string{
		"output": {"text", "json"}, "log-format": {"text", "json"}, "log-level": {"debug", "info", "warn", "error"},
	} {
		// The error is that the flag does not exist.
		_ = root.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
}

// check finds flags with values that they do not have.
func (f *flags) check() error {
	if f.output != "text" && f.output != "json" {
		return fmt.Errorf("--output %q: it is text or json", f.output)
	}
	if f.logFormat != "" && f.logFormat != "text" && f.logFormat != "json" {
		return fmt.Errorf("--log-format %q: it is text or json", f.logFormat)
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(f.logLevel)); err != nil {
		return fmt.Errorf("--log-level %q: it is debug, info, warn or error", f.logLevel)
	}
	return nil
}

// path is the configuration's, and whether somebody named it.
func (f *flags) path() string {
	if f.config != "" {
		return f.config
	}
	if path := os.Getenv(configVariable); path != "" {
		return path
	}
	return defaultConfig
}

// load reads the configuration.
func (f *flags) load() (*config.Config, error) {
	path := f.path()
	cfg, err := config.Load(path)
	if errors.Is(err, fs.ErrNotExist) && len(problems(err)) == 0 {
		return nil, fmt.Errorf("no configuration at %s; name one with -c or %s", path, configVariable)
	}
	return cfg, err
}

// loadWhole reads the configuration, and looks at the files that it names.
func (f *flags) loadWhole() (*config.Config, error) {
	cfg, err := f.load()
	if err != nil {
		return nil, err
	}
	return cfg, gateway.CheckFiles(cfg)
}

// problems are the faults of a file, if that is what err is.
func problems(err error) config.Problems {
	ps, _ := errors.AsType[config.Problems](err)
	return ps
}

// logger writes the log to w. What net/http writes to the standard logger, bytes
// of an endpoint's answer among it, goes to the debug level.
func (f *flags) logger(w io.Writer) *slog.Logger {
	logger := f.newLogger(w)
	log.SetFlags(0)
	log.SetOutput(slog.NewLogLogger(logger.With("component", "net/http").Handler(), slog.LevelDebug).Writer())
	return logger
}

func (f *flags) newLogger(w io.Writer) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(f.logLevel)) // checked before
	opts := &slog.HandlerOptions{Level: level, ReplaceAttr: readable}
	if f.logFormat == "text" || f.logFormat == "" && terminal(w) {
		return slog.New(slog.NewTextHandler(w, opts))
	}
	return slog.New(slog.NewJSONHandler(w, opts))
}

// readable writes durations as the file does, also in JSON, where they would be
// nanoseconds without a unit.
func readable(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		a.Value = slog.StringValue(a.Value.Duration().String())
	}
	return a
}

// noArguments refuses what stands behind a command's name.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s takes no argument, but was given %q; name a file with -c", cmd.CommandPath(), args[0])
	}
	return nil
}

// terminal says whether w is one.
func terminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// json says whether JSON is to be printed.
func (f *flags) json() bool { return f.output == "json" }

// printJSON prints a value for programs.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return failed(enc.Encode(v))
}
