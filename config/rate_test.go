package config

import (
	"testing"
	"time"
)

func TestRates(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text      string
		want      Rate
		perSecond float64
		lawful    bool
	}{
		{"", Rate{}, 0, true},
		{"200/s", Rate{200, time.Second}, 200, true},
		{"1500/m", Rate{1500, time.Minute}, 25, true},
		{"1800/h", Rate{1800, time.Hour}, 0.5, true},
		{"1000000/s", Rate{1_000_000, time.Second}, 1_000_000, true},
		{"1000001/s", Rate{}, 0, false},
		{"99999999999999999999/s", Rate{}, 0, false},
		{"0/s", Rate{}, 0, false},
		{"-1/s", Rate{}, 0, false},
		{"1.5/s", Rate{}, 0, false},
		{"010/s", Rate{}, 0, false},
		{"200", Rate{}, 0, false},
		{"200/d", Rate{}, 0, false},
		{"200 / s", Rate{}, 0, false},
		{"200/s/s", Rate{}, 0, false},
	} {
		got, complaint := parseRate(test.text)
		if (complaint == "") != test.lawful || got != test.want || got.PerSecond() != test.perSecond {
			t.Errorf("%q: got %v (%v in a second), %q", test.text, got, got.PerSecond(), complaint)
		}
		if test.lawful && got.String() != test.text {
			t.Errorf("%q reads back as %q", test.text, got)
		}
	}
}
