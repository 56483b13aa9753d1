package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/sharehook/sharehook/gateway"
)

func runCommand(f *flags) *cobra.Command {
	var provision bool
	var instance string
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Run the gateway",
		Long: `Runs the gateway until SIGTERM or SIGINT. The first one drains it within
shutdown.grace: nothing is acquired any more, attempts under way finish, the
rest is given back to the broker. A second one stops it at once.

SIGHUP, and a change of a file that the configuration was made of, reload it:
all or nothing, endpoints that did not change go on undisturbed.`,
		Example: `  sharehook run -c sharehook.yaml
  sharehook run -c /etc/sharehook/ --provision --log-format json`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := f.loadWhole()
			if err != nil {
				return err
			}
			log := f.logger(cmd.ErrOrStderr())
			o := gateway.Options{Config: cfg, Version: version, InstanceID: instance, Logger: log}
			s := watchSignals(cmd.Context(), log)
			defer s.stop()
			o.Load, o.ReloadNow = f.loadWhole, s.reload
			if provision {
				if _, err := gateway.Provision(s.drain, o, false); err != nil {
					return failed(err)
				}
			}
			g, err := gateway.New(o)
			if err != nil {
				return failed(err)
			}
			log.Info("sharehook starts", "version", version, "commit", commit, "configuration", cfg.Summary())
			return failed(withBallast(func() error { return g.Run(s.drain, s.kill) }))
		},
	}
	cmd.Flags().BoolVar(&provision, "provision", false, "first make the cluster what the file wishes, as the command provision does")
	cmd.Flags().StringVar(&instance, "instance", "", "what tells this replica from all others, the same when it starts again (default: the host name)")
	return cmd
}

// signals are what the process was told.
//
// A signal may come twice for one reason: from whoever stops the process and
// from whoever stops its process group.
type signals struct {
	drain  context.Context //nolint:containedctx // ends with the first SIGTERM or SIGINT
	kill   chan struct{}   // closed by the second
	reload chan struct{}   // one slot: SIGHUP
	stop   func()
}

// sameSignal is how soon after the first a second signal is not another one. A
// person takes longer.
const sameSignal = 150 * time.Millisecond

func watchSignals(parent context.Context, log *slog.Logger) signals {
	drain, cancel := context.WithCancel(parent)
	s := signals{drain: drain, kill: make(chan struct{}), reload: make(chan struct{}, 1)}
	got := make(chan os.Signal, 4)
	signal.Notify(got, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	done := make(chan struct{})
	s.stop = func() {
		signal.Stop(got)
		close(done)
		cancel()
	}
	go func() {
		for draining := (time.Time{}); ; {
			var what os.Signal
			select {
			case <-done:
				return
			case what = <-got:
			}
			switch {
			case what == syscall.SIGHUP:
				select {
				case s.reload <- struct{}{}:
				default: // one is waiting already
				}
			case !draining.IsZero() && time.Since(draining) < sameSignal:
			case !draining.IsZero():
				log.Warn("second signal: stopping at once", "signal", what.String())
				close(s.kill)
				return
			default:
				log.Info("signal: draining; a second one stops at once", "signal", what.String())
				draining = time.Now()
				cancel()
			}
		}
	}()
	return s
}
