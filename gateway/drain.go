package gateway

import (
	"context"
	"errors"
	"time"
)

const (
	// leaveReserve is what a drain keeps of the grace for leaving the groups,
	// but never more than a quarter of it.
	leaveReserve = 3 * time.Second
	// flushWait bounds the flushing of telemetry, also when a collector hangs.
	flushWait = 2 * time.Second
	// adminWait bounds the last answers of the admin server.
	adminWait = 500 * time.Millisecond
)

// stopTimes are the times of a drain that begins now. g.mu is held. They need
// no cancelling: they end with the grace.
func (g *Gateway) stopTimes() stopTimes {
	grace, begun := g.cfg.Shutdown.Grace, time.Now()
	return stopTimes{begun.Add(grace - min(leaveReserve, grace/4)), begun.Add(grace)}
}

// Stop drains the gateway within the grace of its configuration: not ready,
// acquire nothing, finish the attempts that run, give back the rest, leave the
// groups, flush telemetry, close the admin server. When ctx ends it stops at
// once and returns ErrKilled. It is to be called once, after Start.
func (g *Gateway) Stop(ctx context.Context) error {
	g.mu.Lock()
	g.stopped, g.state = true, "draining"
	g.parts.log.Info("draining", "grace", g.cfg.Shutdown.Grace.String())
	// All at the same time: no endpoint's drain waits for another's.
	for _, e := range g.endpoints {
		e.stop(g.stopTimes())
	}
	g.mu.Unlock()

	ended := make(chan struct{})
	go func() {
		g.wg.Wait()
		close(ended)
	}()
	killed := false
	select {
	case <-ended:
	case <-ctx.Done():
		killed = true
		g.kill()
		<-ended // cut short: within killedLeave
	}
	g.kill() // nothing runs any more: only frees the context
	g.parts.close()
	return g.closeAdmin(ctx, killed)
}

// closeAdmin flushes telemetry and closes the admin server, which has answered
// until now.
func (g *Gateway) closeAdmin(ctx context.Context, killed bool) error {
	flush, cancel := context.WithTimeout(ctx, flushWait)
	defer cancel()
	if err := g.parts.telemetry.Shutdown(flush); err != nil && !killed {
		g.parts.log.Warn("flush telemetry: what the collector has not taken is lost", "error", err)
	}
	last, cancel := context.WithTimeout(ctx, adminWait)
	defer cancel()
	if err := g.admin.Shutdown(last); err != nil && !errors.Is(err, context.Canceled) && !killed {
		g.parts.log.Warn("close the admin server", "error", err)
	}
	if killed {
		return ErrKilled
	}
	g.parts.log.Info("stopped")
	return nil
}
