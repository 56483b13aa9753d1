package dispatch

import (
	"testing"
	"time"
)

func TestNewChecksItsOptions(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*Options){
		"no source":            func(o *Options) { o.Source = nil },
		"no attempter":         func(o *Options) { o.Attempter = nil },
		"concurrency":          func(o *Options) { o.Concurrency = -1 },
		"max held":             func(o *Options) { o.MaxHeld = -1 },
		"read ahead":           func(o *Options) { o.ReadAhead = -1 },
		"attempts":             func(o *Options) { o.Retry.Attempts = 0 },
		"initial interval":     func(o *Options) { o.Retry.InitialInterval = 0 },
		"multiplier":           func(o *Options) { o.Retry.Multiplier = 0.5 },
		"randomization factor": func(o *Options) { o.Retry.RandomizationFactor = 1.5 },
		"max interval":         func(o *Options) { o.Retry.MaxInterval = time.Millisecond },
		"max elapsed time":     func(o *Options) { o.Retry.MaxElapsedTime = 0 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := Options{Source: endless{}, Attempter: always(ok, 0), Retry: exactly}
			if _, err := New(o); err != nil {
				t.Fatalf("good options: %v", err)
			}
			spoil(&o)
			if _, err := New(o); err == nil {
				t.Error("no error")
			}
		})
	}
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	e, err := New(Options{Source: endless{}, Attempter: always(ok, 0)})
	if err != nil {
		t.Fatal(err)
	}
	if e.o.Concurrency != 64 || e.o.MaxHeld != 1000 || e.o.Retry != DefaultRetry || e.o.MaxDeliveries() != 0 {
		t.Errorf("defaults %+v", e.o)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{
		"Verdict(0)": Verdict(0).String(), "accept": VerdictAccept.String(),
		"release": VerdictRelease.String(), "reject": VerdictReject.String(),
		"none": Acknowledgement(0).String(), "Acknowledgement(9)": Acknowledgement(9).String(),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for v, a := range map[Verdict]Acknowledgement{VerdictAccept: Accept, VerdictRelease: Release, VerdictReject: Reject} {
		if v.String() != a.String() {
			t.Errorf("verdict %q and acknowledgement %q, want the same word", v, a)
		}
	}
}
