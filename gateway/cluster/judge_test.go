package cluster

import (
	"errors"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
)

func TestJudge(t *testing.T) {
	t.Parallel()
	byGateway := func(w *Wishes, f *facts) {
		w.DeadLetterBy, f.settings.DeadLetterTopic = ByGateway, ""
		f.letters.values[topicDeadLetters] = value{"false"} // of no concern then
	}
	byNone := func(w *Wishes, f *facts) { w.DeadLetterBy, f.settings.DeadLetterTopic = ByNone, "" }
	for name, tc := range map[string]struct {
		change []func(*Wishes, *facts)
		want   []Level
	}{
		"broker": {nil, nil},
		"broker, share.version 1": {
			[]func(*Wishes, *facts){func(_ *Wishes, f *facts) { f.feature.finalized = 1 }},
			[]Level{Fault},
		},
		"broker, Kafka 4.3": {
			[]func(*Wishes, *facts){func(_ *Wishes, f *facts) { f.feature = feature{1, 1}; f.settings.DeadLetterTopic = "" }},
			[]Level{Fault},
		},
		"broker without the settings": {
			[]func(*Wishes, *facts){func(_ *Wishes, f *facts) { delete(f.settings.known, groupDeadLetters) }},
			[]Level{Fault},
		},
		"broker, no topic named": {
			[]func(*Wishes, *facts){func(_ *Wishes, f *facts) { f.settings.DeadLetterTopic = "" }},
			[]Level{Fault},
		},
		"broker, another topic named": {
			[]func(*Wishes, *facts){func(w *Wishes, _ *facts) { w.DeadLetterTopic = "dlq.other" }},
			[]Level{Warning},
		},
		"broker, missing": {
			[]func(*Wishes, *facts){func(_ *Wishes, f *facts) { f.letters = topic{name: "dlq.g"} }},
			[]Level{Fault},
		},
		"broker, missing but made": {
			[]func(*Wishes, *facts){func(_ *Wishes, f *facts) { f.letters = topic{name: "dlq.g"}; f.brokers.autoCreate = true }},
			[]Level{Warning},
		},
		"broker, not enabled and compacted": {
			[]func(*Wishes, *facts){func(_ *Wishes, f *facts) { f.letters = existing("dlq.g", topicCleanup, "compact") }},
			[]Level{Fault, Fault},
		},
		"broker, one of two prefixes": {
			[]func(*Wishes, *facts){func(_ *Wishes, f *facts) { f.brokers.prefixes = []string{"", "dead."} }},
			[]Level{Fault},
		},
		"broker, too small": {
			[]func(*Wishes, *facts){func(_ *Wishes, f *facts) { f.letters.values[topicMaxMessage] = value{"1000"} }},
			[]Level{Warning},
		},
		"broker, too small but nothing copied": {
			[]func(*Wishes, *facts){func(w *Wishes, f *facts) { w.CopyRecord = false; f.letters.values[topicMaxMessage] = value{"1000"} }},
			nil,
		},
		"broker, its own topic": {
			[]func(*Wishes, *facts){func(w *Wishes, _ *facts) { w.Topics = []string{"^.*"} }},
			[]Level{Fault},
		},
		"broker, nothing may be seen": {
			[]func(*Wishes, *facts){func(_ *Wishes, f *facts) {
				f.settingsErr, f.brokersErr = kerr.GroupAuthorizationFailed, kerr.ClusterAuthorizationFailed
				f.letters = topic{name: "dlq.g", err: kerr.TopicAuthorizationFailed}
			}},
			[]Level{Unverified, Unverified, Unverified},
		},
		"broker, topic's settings may not be seen": {
			[]func(*Wishes, *facts){func(_ *Wishes, f *facts) { f.letters.valuesErr = kerr.TopicAuthorizationFailed }},
			[]Level{Unverified},
		},
		"gateway": {[]func(*Wishes, *facts){byGateway}, nil},
		"gateway and broker": {
			[]func(*Wishes, *facts){byGateway, func(_ *Wishes, f *facts) { f.settings.DeadLetterTopic = "dlq.g" }},
			[]Level{Fault},
		},
		"gateway, missing": {
			// The brokers' switch is for their own letters only.
			[]func(*Wishes, *facts){byGateway, func(_ *Wishes, f *facts) { f.letters = topic{name: "t"}; f.brokers.autoCreate = true }},
			[]Level{Fault},
		},
		"gateway, compacted and small": {
			[]func(*Wishes, *facts){byGateway, func(_ *Wishes, f *facts) {
				f.letters.values[topicCleanup], f.letters.values[topicMaxMessage] = value{"delete,compact"}, value{"1000"}
			}},
			[]Level{Fault, Warning},
		},
		"gateway, old cluster": {
			[]func(*Wishes, *facts){byGateway, func(_ *Wishes, f *facts) { f.feature, f.settings.known = feature{}, nil }},
			nil,
		},
		"none":                {[]func(*Wishes, *facts){byNone}, []Level{Warning}},
		"none but broker":     {[]func(*Wishes, *facts){byNone, func(_ *Wishes, f *facts) { f.settings.DeadLetterTopic = "dlq.g" }}, []Level{Warning}},
		"nobody that we know": {[]func(*Wishes, *facts){func(w *Wishes, _ *facts) { w.DeadLetterBy = "me" }}, []Level{Fault}},
	} {
		w, f := sound()
		for _, change := range tc.change {
			change(&w, &f)
		}
		fs := judge(w, f)
		var got []Level
		for _, finding := range fs {
			got = append(got, finding.Level)
			if finding.Problem == "" || finding.Remedy == "" {
				t.Errorf("%s: half a finding %+v", name, finding)
			}
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: %v, want %v", name, fs, tc.want)
		}
	}
}

// short is a plan in short: what of which resource.
func short(changes []Change) []string {
	var list []string
	for _, c := range changes {
		list = append(list, c.Name+" "+c.Setting+"="+c.New)
	}
	return list
}

func TestDraft(t *testing.T) {
	t.Parallel()
	fresh := func(_ *Wishes, f *facts) {
		f.settings = Settings{
			Group: "g", Lock: 30e9, MaxDeliveries: 5, MaxRecordLocks: 2000, OffsetReset: "latest", Isolation: "read_uncommitted",
			Renew: true, known: allKnown(),
		}
		f.letters = topic{name: "dlq.g"}
	}
	for name, tc := range map[string]struct {
		change   []func(*Wishes, *facts)
		unpinned partitions
		want     []string
	}{
		"as wished": {},
		"from nothing, in order": {
			[]func(*Wishes, *facts){fresh},
			partitions{"orders": {0, 1}},
			[]string{
				"dlq.g topic=default partitions, default replicas, errors.deadletterqueue.group.enable=true, max.message.bytes=1114124",
				"g start offsets=latest (2 partitions of 1 topic)",
				"g share.auto.offset.reset=earliest",
				"g share.isolation.level=read_committed",
				"g share.delivery.count.limit=10",
				"g share.partition.max.record.locks=4000",
				"g errors.deadletterqueue.copy.record.enable=true",
				"g errors.deadletterqueue.topic.name=dlq.g",
			},
		},
		"nothing copied, nothing to make room for": {
			[]func(*Wishes, *facts){fresh, func(w *Wishes, _ *facts) {
				w.CopyRecord, w.MaxDeliveries, w.MaxRecordLocks, w.Isolation = false, 0, 0, ""
			}},
			nil,
			[]string{
				"dlq.g topic=default partitions, default replicas, errors.deadletterqueue.group.enable=true",
				"g share.auto.offset.reset=earliest",
				"g errors.deadletterqueue.topic.name=dlq.g",
			},
		},
		"topic is mended, never lowered": {
			[]func(*Wishes, *facts){func(_ *Wishes, f *facts) {
				f.letters = existing("dlq.g", topicDeadLetters, "false", topicMaxMessage, "1000")
			}},
			nil,
			[]string{"dlq.g max.message.bytes=1114124", "dlq.g errors.deadletterqueue.group.enable=true"},
		},
		"large enough as it is": {
			[]func(*Wishes, *facts){func(_ *Wishes, f *facts) { f.letters.values[topicMaxMessage] = value{"9000000"} }},
			nil, nil,
		},
		"handed to the gateway": {
			[]func(*Wishes, *facts){func(w *Wishes, _ *facts) { w.DeadLetterBy = ByGateway }},
			nil,
			[]string{"g errors.deadletterqueue.topic.name="},
		},
		"gateway on a broker without the settings": {
			[]func(*Wishes, *facts){func(w *Wishes, f *facts) {
				w.DeadLetterBy, f.settings.DeadLetterTopic, f.settings.known = ByGateway, "", nil
			}},
			nil, nil,
		},
		"none": {
			[]func(*Wishes, *facts){fresh, func(w *Wishes, _ *facts) {
				w.DeadLetterBy, w.Isolation, w.MaxDeliveries, w.MaxRecordLocks = ByNone, "", 0, 0
			}},
			nil,
			[]string{"g share.auto.offset.reset=earliest"},
		},
		"renewing switched on": {
			[]func(*Wishes, *facts){func(_ *Wishes, f *facts) { f.settings.Renew = false }},
			nil,
			[]string{"g share.renew.acknowledge.enable=true"},
		},
	} {
		w, f := sound()
		for _, change := range tc.change {
			change(&w, &f)
		}
		plan, err := draft(w, f, tc.unpinned, PlanOptions{})
		if err != nil || !slices.Equal(short(plan), tc.want) {
			t.Errorf("%s: %v\n%q\nwant\n%q", name, err, short(plan), tc.want)
		}
		for _, c := range plan {
			if c.Why == "" || c.Resource == ResourceInvalid {
				t.Errorf("%s: %+v", name, c)
			}
		}
	}
}

// What would do harm alone waits for what it needs.
func TestDraftNeeds(t *testing.T) {
	t.Parallel()
	w, f := sound()
	f.settings.OffsetReset, f.settings.DeadLetterTopic, f.letters = "latest", "", topic{name: "dlq.g"}
	plan, err := draft(w, f, partitions{"orders": {0}}, PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	needs := make(map[string]Resource)
	for _, c := range plan {
		if c.needs != nil {
			needs[c.Setting] = c.needs.Resource
		}
	}
	if len(needs) != 2 || needs[groupReset] != StartOffsets || needs[groupDeadLetters] != NewTopic {
		t.Errorf("needs %v", needs)
	}
}

func TestDraftRefuses(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Wishes, *facts){
		"prefix":       func(_ *Wishes, f *facts) { f.brokers.prefixes = []string{"dead."} },
		"old cluster":  func(_ *Wishes, f *facts) { f.feature = feature{1, 1} },
		"not upgraded": func(_ *Wishes, f *facts) { f.feature.finalized = 1 },
		"compacted":    func(_ *Wishes, f *facts) { f.letters.values[topicCleanup] = value{"compact"} },
		"loop":         func(w *Wishes, _ *facts) { w.DeadLetterBy, w.Topics = ByGateway, []string{"dlq.g"} },
		"by":           func(w *Wishes, _ *facts) { w.DeadLetterBy = "" },
	} {
		w, f := sound()
		change(&w, &f)
		if plan, err := draft(w, f, nil, PlanOptions{}); err == nil {
			t.Errorf("%s: planned %v", name, short(plan))
		}
	}
	_, f := sound()
	f.letters.valuesErr = kerr.TopicAuthorizationFailed
	if err := f.permitted(); !errors.Is(err, kerr.TopicAuthorizationFailed) {
		t.Errorf("permitted: %v", err)
	}
}

func TestEnumsSpeak(t *testing.T) {
	t.Parallel()
	for _, s := range []string{Level(0).String(), Level(9).String(), Resource(0).String(), Resource(9).String()} {
		if s == "" {
			t.Error("an enum without words")
		}
	}
	if Fault.String() != "fault" || Warning.String() != "warning" || Unverified.String() != "unverified" {
		t.Error("levels have other names")
	}
}
