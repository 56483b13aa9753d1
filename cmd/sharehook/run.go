package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/sharehook/sharehook/gateway"
)

func runCommand(f *flags) *cobra.Command {
	var provision bool
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Run the gateway",
		Long: `Runs the gateway until SIGTERM or SIGINT. The first one drains it within
shutdown.grace: nothing is acquired any more, attempts under way finish, the
rest is given back to the broker. A second one stops it at once.`,
		Example: `  sharehook run -c sharehook.yaml
  sharehook run -c /etc/sharehook/ --provision --log-format json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := f.load()
			if err != nil {
				return err
			}
			log := f.logger(cmd.ErrOrStderr())
			o := gateway.Options{Config: cfg, Version: version, Logger: log}
			ctx, kill, stop := signals(cmd.Context(), log)
			defer stop()
			if provision {
				plans, err := gateway.Provision(ctx, o, false)
				logPlans(log, plans)
				if err != nil {
					return failed(err)
				}
			}
			g, err := gateway.New(o)
			if err != nil {
				return failed(err)
			}
			log.Info("sharehook starts", "version", version, "commit", commit, "configuration", cfg.Summary())
			return failed(g.Run(ctx, kill))
		},
	}
	cmd.Flags().BoolVar(&provision, "provision", false, "first make the cluster what the file wishes, as the command provision does")
	return cmd
}

// signals are a context that ends with the first SIGTERM or SIGINT and a
// channel that is closed by the second.
func signals(parent context.Context, log *slog.Logger) (ctx context.Context, kill <-chan struct{}, stop func()) {
	ctx, cancel := context.WithCancel(parent)
	second := make(chan struct{})
	got := make(chan os.Signal, 2)
	signal.Notify(got, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	done := make(chan struct{})
	go func() {
		for n := 0; n < 2; {
			select {
			case <-done:
				return
			case s := <-got:
				if s == syscall.SIGHUP {
					log.Warn("SIGHUP: the file is not read again while running; restart to have a change take effect")
					continue
				}
				if n++; n == 2 {
					log.Warn("second signal: stopping at once", "signal", s.String())
					close(second)
					return
				}
				log.Info("signal: draining; a second one stops at once", "signal", s.String())
				cancel()
			}
		}
	}()
	return ctx, second, func() {
		signal.Stop(got)
		close(done)
		cancel()
	}
}
