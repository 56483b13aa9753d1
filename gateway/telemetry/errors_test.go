package telemetry

import (
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestHidePaths(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, want string }{
		{"connection refused", "connection refused"},
		{
			`traces export: Post "https://ingest.example:4318/v1/traces?token=s3cret": dial tcp 10.0.0.1:4318: connect`,
			`traces export: Post "https://ingest.example:4318": dial tcp 10.0.0.1:4318: connect`,
		},
		{"failed to send to https://ingest.example/s3cret/v1/traces: 503", "failed to send to https://ingest.example 503"},
		{"http://user:s3cret@ingest.example/ and http://localhost", "http://ingest.example and http://localhost"},
		{"https://ingest.example?key=s3cret", "https://ingest.example"},
	}
	for _, test := range tests {
		if got := hidePaths(test.text); got != test.want {
			t.Errorf("%q becomes %q, want %q", test.text, got, test.want)
		}
	}
}

func TestErrorsAreLoggedOnceAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		log := newErrorLog(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{
			ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
				if a.Key == "suppressed" || a.Key == "error" {
					return a
				}
				return slog.Attr{}
			},
		})))
		log.Handle(nil)
		for range 25 { // two minutes of a failure every 5 s
			log.Handle(errors.New("refused"))
			<-time.After(5 * time.Second)
		}
		got := slices.Collect(strings.Lines(out.String()))
		want := []string{
			"error=refused suppressed=0\n",
			"error=refused suppressed=11\n",
			"error=refused suppressed=11\n",
		}
		if !slices.Equal(got, want) {
			t.Errorf("logged %q, want %q", got, want)
		}
	})
}
