package cluster

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
)

func TestParseISO8601(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]time.Duration{
		"PT1H": time.Hour, "P1D": 24 * time.Hour, "P1DT12H": 36 * time.Hour, "PT0S": 0, "P0D": 0,
		"PT1H30M": 90 * time.Minute, "PT1.5S": 1500 * time.Millisecond, "PT0.000000001S": 1, "P106751D": 106751 * 24 * time.Hour,
	} {
		if got, err := parseISO8601(s); err != nil || got != want {
			t.Errorf("%q: %v, %v; want %v", s, got, err, want)
		}
	}
	for _, s := range []string{
		"", "P", "PT", "P1DT", "1h", "PT1", "P1H", "PT1D", "-PT1H", "PT-1H", "PT1M1H", "P1Y", "P1W", "pt1h", " PT1H",
		"PT1.S", "PT.5S", "PT1.0000000001S", "P106752D", "PT9999999999999999999S",
	} {
		if got, err := parseISO8601(s); err == nil {
			t.Errorf("%q: %v, want an error", s, got)
		}
	}
}

func TestPositionOf(t *testing.T) {
	t.Parallel()
	c := New(nil, nil)
	c.now = func() time.Time { return time.UnixMilli(7_200_000) }
	for _, tc := range []struct {
		start, isolation string
		want             position
	}{
		{"latest", "read_committed", position{-1, 1}},
		{"latest", "read_uncommitted", position{-1, 0}},
		{"earliest", "read_committed", position{-2, 0}},
		{"by_duration:PT1H", "read_committed", position{3_600_000, 1}},
		{"by_duration:P3D", "", position{0, 0}}, // before 1970
	} {
		if got, err := c.positionOf(tc.start, tc.isolation); err != nil || got != tc.want {
			t.Errorf("%s, %s: %v, %v; want %v", tc.start, tc.isolation, got, err, tc.want)
		}
	}
	for _, start := range []string{"", "first", "by_duration:", "by_duration:1h"} {
		if _, err := c.positionOf(start, ""); err == nil {
			t.Errorf("%q was taken", start)
		}
	}
}

func TestWishesNames(t *testing.T) {
	t.Parallel()
	w := Wishes{Topics: []string{"orders", "^pay.*s$", "^("}}
	for topic, want := range map[string]bool{"orders": true, "order": false, "payments": true, "payment": false, "dlq.orders": false} {
		if w.names(topic) != want {
			t.Errorf("%s: %t", topic, !want)
		}
	}
}

func TestLags(t *testing.T) {
	t.Parallel()
	got := lags([]shareOffset{
		{topic: "b", partition: 0, lag: 3},
		{topic: "a", partition: 1, lag: 2},
		{topic: "a", partition: 0, lag: 0},
		{topic: "c", partition: 0, lag: 5},
		{topic: "c", partition: 1, lag: -1},
		{topic: "d", partition: 0, lag: 9, err: kerr.UnknownTopicOrPartition},
	})
	want := []Lag{{"a", 2, true}, {"b", 3, true}, {"c", 0, false}, {"d", 0, false}}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// allKnown are the settings that a broker of Kafka 4.4 has for a group.
func allKnown() map[string]bool {
	known := make(map[string]bool)
	for name := range kafkaSince {
		known[name] = true
	}
	return known
}

// sound is a set-up where all is as wished.
func sound() (Wishes, facts) {
	w := Wishes{
		Endpoint: "orders", Group: "g", Topics: []string{"orders"}, Start: "latest", Isolation: "read_committed",
		Lock: 30 * time.Second, MaxDeliveries: 10, MaxRecordLocks: 4000,
		DeadLetterBy: ByBroker, DeadLetterTopic: "dlq.g", CopyRecord: true,
	}
	return w, facts{
		settings: Settings{
			Group: "g", Lock: w.Lock, MaxDeliveries: 10, MaxRecordLocks: 4000, OffsetReset: "earliest", Isolation: "read_committed",
			Renew: true, DeadLetterTopic: "dlq.g", CopyRecord: true, known: allKnown(),
		},
		feature: feature{finalized: 2, supported: 2},
		brokers: brokerRules{prefixes: []string{"dlq."}},
		letters: existing("dlq.g", topicDeadLetters, "true", topicCleanup, "delete", topicMaxMessage, "1114124"),
		sources: []topic{existing("orders", topicMaxMessage, "1048588")},
	}
}

func existing(name string, namesAndValues ...string) topic {
	t := topic{name: name, exists: true, values: make(map[string]value)}
	for i := 0; i < len(namesAndValues); i += 2 {
		t.values[namesAndValues[i]] = value{namesAndValues[i+1]}
	}
	return t
}

func TestCompare(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(*Wishes, *Settings)
		want   []string // settings that differ
	}{
		"as wished": {func(*Wishes, *Settings) {}, nil},
		"no wishes": {func(w *Wishes, s *Settings) { w.Lock, w.MaxDeliveries, w.MaxRecordLocks, w.Isolation = 0, 0, 0, "" }, nil},
		"all otherwise": {func(_ *Wishes, s *Settings) {
			*s = Settings{OffsetReset: "latest", Isolation: "read_uncommitted", Lock: 1, MaxDeliveries: 5, MaxRecordLocks: 2000, known: allKnown()}
		}, []string{groupReset, groupIsolation, groupLock, groupMaxDeliveries, groupMaxLocks, groupRenew, groupCopyRecord}},
		"not known":     {func(_ *Wishes, s *Settings) { *s = Settings{Renew: true} }, []string{groupLock, groupMaxDeliveries, groupMaxLocks}},
		"copy, gateway": {func(w *Wishes, s *Settings) { w.DeadLetterBy, s.CopyRecord = ByGateway, false }, nil},
	} {
		w, f := sound()
		tc.change(&w, &f.settings)
		var got []string
		for _, d := range Compare(w, f.settings) {
			got = append(got, d.Setting)
			if d.String() == "" || d.Wish == "" {
				t.Errorf("%s: %+v", name, d)
			}
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}

// What a broker does not tell may not look like a difference of values.
func TestCompareSaysNotKnown(t *testing.T) {
	t.Parallel()
	w, _ := sound()
	ds := Compare(w, Settings{Renew: true})
	if ds[0].Have != "" || !strings.Contains(ds[0].Text, "not known") {
		t.Errorf("%+v", ds[0])
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change Change
		err    error
		want   string
	}{
		"unknown setting": {Change{Resource: GroupSetting, Name: "g", Setting: groupMaxDeliveries, New: "10", unknown: true}, kerr.InvalidConfig, "Kafka 4.3"},
		"bound":           {Change{Resource: GroupSetting, Name: "g", Setting: groupLock, New: "1"}, kerr.InvalidConfig, "group.share.max.record.lock.duration.ms"},
		"group":           {Change{Resource: GroupSetting, Name: "g", Setting: groupLock, New: "1"}, kerr.GroupAuthorizationFailed, `ALTER_CONFIGS on group "g"`},
		"topic":           {Change{Resource: NewTopic, Name: "t", topic: &newTopic{}}, kerr.TopicAuthorizationFailed, `CREATE on topic "t"`},
		"start":           {Change{Resource: StartOffsets, Name: "g", pin: &pin{}}, kerr.GroupAuthorizationFailed, `READ on group "g"`},
		"policy":          {Change{Resource: NewTopic, Name: "t"}, kerr.PolicyViolation, "operators"},
		"old broker":      {Change{Resource: GroupSetting, Name: "g", Setting: groupReset, New: "earliest"}, kerr.UnsupportedVersion, "Kafka 4.2"},
		"needs":           {Change{Resource: GroupSetting, Name: "g", Setting: groupDeadLetters, New: "t", needs: &Change{Resource: NewTopic, Name: "t"}}, errSkipped, `create topic "t"`},
		"any other":       {Change{Resource: GroupSetting, Name: "g", Setting: groupLock, New: ""}, kerr.RequestTimedOut, "clear " + groupLock},
	} {
		err := explain(tc.change, tc.err)
		if !errors.Is(err, tc.err) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v; want %q in it", name, err, tc.want)
		}
	}
}
