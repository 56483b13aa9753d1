package bubble

import (
	"testing"

	"github.com/sharehook/sharehook/gateway"
)

// statusCases are answers to the first delivery of a record and what becomes
// of it; the key of the record is the name of the case. Later deliveries are
// answered with 200.
var statusCases = []struct {
	name            string
	reply           reply
	acknowledgement string
	reason          string
	deadLetter      string
}{
	{"200", reply{status: 200}, "accept", "ok", ""},
	{"201", reply{status: 201}, "accept", "ok", ""},
	{"204", reply{status: 204}, "accept", "ok", ""},
	{"301", reply{status: 301}, "reject", "status_3xx", "rejected"},
	{"307", reply{status: 307}, "reject", "status_3xx", "rejected"},
	{"308", reply{status: 308}, "reject", "status_3xx", "rejected"},
	{"400", reply{status: 400}, "reject", "status_4xx", "rejected"},
	{"404", reply{status: 404}, "reject", "status_4xx", "rejected"},
	{"408", reply{status: 408}, "release", "status_4xx", ""},
	{"425", reply{status: 425}, "release", "status_4xx", ""},
	{"429", reply{status: 429}, "release", "status_4xx", ""},
	{"500", reply{status: 500}, "release", "status_5xx", ""},
	{"503", reply{status: 503}, "release", "status_5xx", ""},
	{"599", reply{status: 599}, "release", "status_5xx", ""},
	{"no answer", reply{cut: true}, "release", "reset", ""},
	{"timeout", reply{hang: true}, "release", "timeout", ""},
}

func TestStatusDecides(t *testing.T) {
	scenario(t, func(b *bed) {
		elsewhere := b.hook("elsewhere", accepting)
		replies := map[string]reply{}
		var keys []string
		for _, c := range statusCases {
			// Were the redirects followed, there is a place to arrive at.
			c.reply.header = []string{"location", elsewhere.url()}
			replies[c.name] = c.reply
			keys = append(keys, c.name)
		}
		h := b.hook("orders", func(c call) reply {
			if c.delivery > 1 {
				return reply{}
			}
			return replies[c.key]
		})
		b.keyed("orders", keys...)
		g := b.ready(b.file(h.endpoint("retry: {attempts: 1, randomization_factor: 0}", "timeout: 2s")))
		b.settled("orders")
		b.account(account{})

		for _, c := range statusCases {
			first := g.of(c.name)[0]
			if first.Acknowledgement != c.acknowledgement || first.Reason != c.reason ||
				first.Status != c.reply.status || first.DeadLetter != c.deadLetter {
				t.Errorf("%s: %s, reason %s, status %d, dead letter %q, want %s, %s, %d, %q", c.name,
					first.Acknowledgement, first.Reason, first.Status, first.DeadLetter,
					c.acknowledgement, c.reason, c.reply.status, c.deadLetter)
			}
			want := 1
			if c.acknowledgement == "release" {
				want = 2
			}
			// One that was cut off on a used connection is repeated on the next.
			if got := len(h.of(c.name)); got != want && (!c.reply.cut || got < want) {
				t.Errorf("%s: %d requests, want %d", c.name, got, want)
			}
		}
		if calls := elsewhere.all(); len(calls) > 0 {
			t.Errorf("%d requests followed a redirect", len(calls))
		}
		g.expectMetrics("orders", map[string]float64{
			`attempts_total{reason="ok",verdict="accept"}`:              3 + 8,
			`attempts_total{reason="status_3xx",verdict="reject"}`:      3,
			`attempts_total{reason="status_4xx",verdict="reject"}`:      2,
			`attempts_total{reason="status_4xx",verdict="release"}`:     3,
			`attempts_total{reason="status_5xx",verdict="release"}`:     3,
			`attempts_total{reason="reset",verdict="release"}`:          1,
			`attempts_total{reason="timeout",verdict="release"}`:        1,
			`records_acknowledged_total{topic="orders",type="accept"}`:  3 + 8,
			`records_acknowledged_total{topic="orders",type="release"}`: 8,
			`records_acknowledged_total{topic="orders",type="reject"}`:  5,
			`records_acquired_total{topic="orders"}`:                    16 + 8,
			`dead_letters_total{by="none",cause="rejected"}`:            5,
			`records_lapsed_total`:                                      0,
			`records_held`:                                              0,
			`attempts_in_flight`:                                        0,
		})
	})
}

// Where nobody listens there is no answer, and no fault of the record.
func TestNobodyListens(t *testing.T) {
	scenario(t, func(b *bed) {
		b.keyed("orders", "a")
		g := b.start(b.file(endpoint("orders", "http://localhost:1/", "retry: {attempts: 2, randomization_factor: 0}")))
		b.await("a delivery", func() bool { return len(g.all()) > 0 })
		want := gateway.Delivery{Acknowledgement: "release", Verdict: "release", Reason: "connect", Attempts: 2}
		got := g.all()[0]
		if got.Acknowledgement != want.Acknowledgement || got.Verdict != want.Verdict ||
			got.Reason != want.Reason || got.Attempts != want.Attempts || got.Status != 0 {
			t.Errorf("delivery %+v, want %+v", got, want)
		}
	})
}

// The file's own map: a code beats a class, and what is not named is released.
func TestStatusMapOfTheFile(t *testing.T) {
	scenario(t, func(b *bed) {
		h := b.hook("orders", func(c call) reply {
			if c.delivery > 1 {
				return reply{status: 204}
			}
			return map[string]reply{"202": {status: 202}, "409": {status: 409}, "404": {status: 404}, "302": {status: 302}, "501": {status: 501}}[c.key]
		})
		b.keyed("orders", "202", "409", "404", "302", "501")
		g := b.ready(b.file(h.endpoint("retry: {attempts: 1}",
			"status: {accept: [2xx, 409], release: [202, 4xx], reject: [501]}")))
		b.settled("orders")
		for key, want := range map[string]struct{ acknowledgement, reason string }{
			"202": {"release", "status_2xx"},
			"409": {"accept", "status_4xx"},
			"404": {"release", "status_4xx"},
			"302": {"release", "status_3xx"},
			"501": {"reject", "status_5xx"},
		} {
			if got := g.of(key)[0]; got.Acknowledgement != want.acknowledgement || got.Reason != want.reason {
				t.Errorf("%s: %s, %s, want %s, %s", key, got.Acknowledgement, got.Reason, want.acknowledgement, want.reason)
			}
		}
	})
}
