package gateway

import (
	"testing"

	"github.com/sharehook/sharehook/config"
)

func TestAcquisition(t *testing.T) {
	t.Parallel()
	auto := config.ReadAhead{Auto: true}
	for _, tc := range []struct {
		name             string
		endpoint         config.Endpoint
		leading, brokers int
		want             window
	}{
		{"one broker", config.Endpoint{Concurrency: 64, MaxHeld: 1000, Members: 1, ReadAhead: auto}, 1, 1, window{64, 1, 936}},
		{"three brokers", config.Endpoint{Concurrency: 64, MaxHeld: 1000, Members: 1, ReadAhead: auto}, 3, 3, window{21, 3, 937}},
		{"three brokers, one leads", config.Endpoint{Concurrency: 64, MaxHeld: 1000, Members: 1, ReadAhead: auto}, 1, 3, window{21, 3, 937}},
		{"thirty brokers lead", config.Endpoint{Concurrency: 64, MaxHeld: 1000, Members: 1, ReadAhead: auto}, 30, 30, window{2, 30, 940}},
		{"of thirty brokers one leads", config.Endpoint{Concurrency: 64, MaxHeld: 1000, Members: 1, ReadAhead: auto}, 1, 30, window{10, 6, 940}},
		{"topics are not there yet", config.Endpoint{Concurrency: 64, MaxHeld: 1000, Members: 1, ReadAhead: auto}, 0, 1, window{64, 1, 936}},
		{"two members", config.Endpoint{Concurrency: 64, MaxHeld: 1000, Members: 2, ReadAhead: auto}, 1, 1, window{32, 1, 936}},
		{"one at a time", config.Endpoint{Concurrency: 1, MaxHeld: 1, Members: 1, ReadAhead: auto}, 1, 1, window{1, 1, 1}},
		{"nothing ahead", config.Endpoint{Concurrency: 64, MaxHeld: 1000, Members: 1}, 1, 1, window{1, 1, 999}},
		{"a great many ahead", config.Endpoint{Concurrency: 64, MaxHeld: 9000, Members: 1, ReadAhead: config.ReadAhead{Records: 5000}}, 1, 1, window{500, 1, 8500}},
		{"little may be held", config.Endpoint{Concurrency: 64, MaxHeld: 64, Members: 1, ReadAhead: auto}, 1, 1, window{64, 1, 64}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := acquisition(tc.endpoint, tc.leading, tc.brokers); got != tc.want {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
}

func TestWhatNeedsARestart(t *testing.T) {
	t.Parallel()
	base := func() *config.Config {
		return &config.Config{
			Kafka: config.Kafka{Brokers: []string{"a:9092"}, ClientID: "c", SASL: &config.SASL{Mechanism: "PLAIN", Username: "u", Password: "secret"}},
			Admin: config.Admin{Listen: "127.0.0.1:8400"},
		}
	}
	for _, tc := range []struct {
		name   string
		change func(*config.Config)
		want   string
	}{
		{"nothing", func(*config.Config) {}, ""},
		{"an endpoint", func(c *config.Config) { c.Endpoints = []config.Endpoint{{Name: "x"}} }, ""},
		{"the grace", func(c *config.Config) { c.Shutdown.Grace = 1 }, ""},
		{"brokers", func(c *config.Config) { c.Kafka.Brokers = []string{"b:9092"} }, "kafka.brokers changed: that needs a restart; nothing was reloaded"},
		{"a password", func(c *config.Config) { c.Kafka.SASL.Password = "other" }, "kafka.sasl changed: that needs a restart; nothing was reloaded"},
		{
			"two at once", func(c *config.Config) { c.Kafka.ClientID, c.Admin.Token = "d", "t" },
			"kafka.client_id changed: that needs a restart; nothing was reloaded\nadmin.token changed: that needs a restart; nothing was reloaded",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			next := base()
			tc.change(next)
			got := ""
			if err := needsRestart(base(), next); err != nil {
				got = err.Error()
			}
			if got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
