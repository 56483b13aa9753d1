package gateway

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/sharehook/sharehook/config"
	"github.com/sharehook/sharehook/gateway/filewatch"
)

// ErrNoReload is what Reload answers once the gateway drains.
var ErrNoReload = errors.New("the gateway is draining")

// reloadUntil reloads when a file changes or somebody asks, until ctx ends.
func (g *Gateway) reloadUntil(ctx context.Context) {
	if g.load == nil {
		<-ctx.Done()
		return
	}
	watcher := filewatch.New(filewatch.Options{
		Files: func() []string {
			g.mu.Lock()
			defer g.mu.Unlock()
			return g.cfg.Files()
		},
		Changed: g.loadAgain,
		Logger:  g.parts.log,
	})
	var watching sync.WaitGroup
	defer watching.Wait()
	watching.Go(func() { watcher.Run(ctx) })
	for {
		select {
		case <-ctx.Done():
			return
		case <-g.reloadNow:
			g.loadAgain()
		}
	}
}

// loadAgain reads the configuration and puts it into force. A fault changes
// nothing and is logged.
func (g *Gateway) loadAgain() {
	// Held over the reading as well: what was read last comes into force last.
	g.reloading.Lock()
	defer g.reloading.Unlock()
	next, err := g.load()
	if err == nil {
		err = g.reload(next)
	}
	g.parts.telemetry.Reloaded(err == nil)
	var problems config.Problems
	switch {
	case errors.Is(err, ErrNoReload):
	case errors.As(err, &problems):
		for _, p := range problems {
			g.parts.log.Error("configuration has a fault: the old one goes on", "problem", p.Error())
		}
	case err != nil:
		g.parts.log.Error("configuration is not reloaded: the old one goes on", "error", err)
	}
}

// Reload puts another configuration into force, all or nothing: with an error
// the old one goes on as if nothing had been asked. Endpoints that did not
// change go on undisturbed, with their connections and what they hold. Those
// that are gone drain within the grace; those that changed drain and then
// begin anew. It does not wait for drains.
//
// What cannot change while running (kafka, admin) is refused by name.
func (g *Gateway) Reload(cfg *config.Config) error {
	g.reloading.Lock()
	defer g.reloading.Unlock()
	err := g.reload(cfg)
	g.parts.telemetry.Reloaded(err == nil)
	return err
}

// reload is Reload; g.reloading is held, so that nobody else changes
// g.endpoints.
func (g *Gateway) reload(cfg *config.Config) error {
	old, stopped := g.current()
	if stopped {
		return ErrNoReload
	}
	if err := needsRestart(g.cfg, cfg); err != nil {
		return err
	}
	// All that can fail comes first.
	next := make([]*endpoint, 0, len(cfg.Endpoints))
	var fresh []*endpoint
	for _, c := range cfg.Endpoints {
		if !c.Enabled {
			continue
		}
		if e := find(old, c.Name); e != nil && e.same(c) {
			next = append(next, e)
			continue
		}
		e, err := newEndpoint(c, g.parts)
		if err != nil {
			for _, e := range fresh {
				e.close()
			}
			return err
		}
		fresh, next = append(fresh, e), append(next, e)
	}

	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stopped {
		for _, e := range fresh {
			e.close()
		}
		return ErrNoReload
	}
	g.cfg, g.endpoints = cfg, next
	for _, e := range old {
		if find(next, e.cfg.Name) != e {
			g.parts.log.Info("endpoint drains: it is gone or changed in the configuration", "endpoint", e.cfg.Name)
			e.stop(g.stopTimes())
			g.draining[e.cfg.Name] = e
		}
	}
	for _, e := range fresh {
		// Behind one that was removed a moment ago, too.
		g.startLocked(e, g.draining[e.cfg.Name])
	}
	g.parts.log.Info("configuration reloaded", "configuration", cfg.Summary(), "endpoints_begun", len(fresh))
	return nil
}

func find(endpoints []*endpoint, name string) *endpoint {
	for _, e := range endpoints {
		if e.cfg.Name == name {
			return e
		}
	}
	return nil
}

// needsRestart names what differs and cannot change while running.
func needsRestart(old, next *config.Config) error {
	var errs []error
	differ := func(section string, a, b reflect.Value) {
		for i := range a.NumField() {
			key := a.Type().Field(i).Tag.Get("yaml")
			// No values: they may be credentials, or brought in by ${env:}.
			if !reflect.DeepEqual(a.Field(i).Interface(), b.Field(i).Interface()) {
				errs = append(errs, fmt.Errorf("%s.%s changed: that needs a restart; nothing was reloaded", section, key))
			}
		}
	}
	differ("kafka", reflect.ValueOf(old.Kafka), reflect.ValueOf(next.Kafka))
	differ("admin", reflect.ValueOf(old.Admin), reflect.ValueOf(next.Admin))
	return errors.Join(errs...)
}
