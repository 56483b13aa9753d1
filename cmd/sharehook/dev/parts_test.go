package dev

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/sharehook/sharehook/config"
	"github.com/sharehook/sharehook/gateway"
)

func TestSampleTopic(t *testing.T) {
	for entry, want := range map[string]string{
		"orders":                  "orders",
		`^shop\.[a-z]+\.v1$`:      "shop.a.v1",
		`^orders`:                 "orderssample",
		`^.*`:                     "sample",
		`^(eu|us)-orders-\d{3}$`:  "eu-orders-000",
		`^[^a-z]x?$`:              "0",
		`^a.c$`:                   "axc",
		`^(?i)orders$`:            "ORDERS",
		`^\w+$`:                   "asample",
		`^x{2,4}$`:                "xx",
		`^orders/[0-9]$`:          "",
		`^$`:                      "",
		`^\bword\b[[:punct:]]+x$`: "word-x",
	} {
		got, ok := sampleTopic(entry)
		if got != want || ok != (want != "") {
			t.Errorf("%s: got %q, %t, want %q", entry, got, ok, want)
		}
	}
}

func TestOffsets(t *testing.T) {
	o := offsets{above: make(map[int64]bool)}
	for i, step := range []struct {
		offset int64
		news   bool
	}{{0, true}, {0, false}, {2, true}, {2, false}, {1, true}, {1, false}, {2, false}, {3, true}} {
		if got := o.add(step.offset); got != step.news {
			t.Errorf("step %d: %d is news: %t, want %t", i, step.offset, got, step.news)
		}
	}
	if o.below != 4 || len(o.above) != 0 {
		t.Errorf("got %+v", o)
	}
}

func TestTallyCountsOnce(t *testing.T) {
	e := config.Endpoint{Name: "a", DeadLetter: config.DeadLetter{By: config.DeadLetterByGateway}}
	tally := newTally(3, []config.Endpoint{e})
	for range 3 {
		tally.produced(1)
	}
	delivery := func(offset int64, acknowledged, letter string) gateway.Delivery {
		return gateway.Delivery{Endpoint: "a", Topic: "t", Offset: offset, Acknowledgement: acknowledged, DeadLetter: letter}
	}
	for _, d := range []gateway.Delivery{
		delivery(0, "accept", ""),
		delivery(0, "accept", ""), // its acknowledgement was lost
		delivery(1, "release", ""),
		{Endpoint: "a", Topic: "t", Offset: 1, Interrupted: true},
		{Endpoint: "a", Topic: "t", Offset: 1, Lapsed: true},
		delivery(1, "release", ""),
		delivery(1, "reject", "delivery_limit"),
	} {
		tally.delivered(d)
	}
	select {
	case <-tally.done:
		t.Error("done before the third record")
	default:
	}
	tally.delivered(delivery(2, "reject", "rejected"))
	<-tally.done
	want := Counts{Settled: 3, Accepted: 1, Released: 2, Rejected: 2, DeadLetters: 2}
	s := tally.result()
	if s.Counts != want || tally.open() != 0 {
		t.Errorf("got %+v, %d open", s.Counts, tally.open())
	}
	want.Endpoint = "a"
	if s.Endpoints[0] != want {
		t.Errorf("got %+v", s.Endpoints[0])
	}
}

func TestAdminIsOnLoopback(t *testing.T) {
	for wish, want := range map[string]string{
		"":                  "",
		":8400":             "127.0.0.1:8400",
		"0.0.0.0:8400":      "127.0.0.1:8400",
		"gateway.test:8400": "127.0.0.1:8400",
		"127.0.0.2:8400":    "127.0.0.2:8400",
		"[::1]:8400":        "[::1]:8400",
	} {
		if got := onLoopback(wish); got != want {
			t.Errorf("%s: got %s, want %s", wish, got, want)
		}
	}
}

func TestSampleFileIsAConfiguration(t *testing.T) {
	cfg, err := config.Parse("sample", []byte(SampleFile()), config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	run, err := sampleConfig("127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3")
	if err != nil {
		t.Fatal(err)
	}
	run.Endpoints[0].URL = cfg.Endpoints[0].URL
	if !reflect.DeepEqual(run.Endpoints, cfg.Endpoints) {
		t.Errorf("what is printed is not what runs: %+v, %+v", cfg.Endpoints, run.Endpoints)
	}
}

func TestPlanLeavesDeadLettersAlone(t *testing.T) {
	p, err := newPlan(parse(t, `
kafka: {brokers: ["localhost:9092"]}
endpoints:
  - {name: a, topics: [a], url: "http://localhost:1", dead_letter: {by: gateway, topic: dead}}
  - {name: b, topics: [dead, '^a$', '^ +$'], url: "http://localhost:1", dead_letter: {by: none}}
`))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(p.topics, []string{"a"}) || !reflect.DeepEqual(p.letters, []string{"dead"}) ||
		!reflect.DeepEqual(p.unfed, []string{"^ +$"}) || p.audience["a"] != 2 {
		t.Errorf("got %+v", p)
	}
}

func TestLinesAreAligned(t *testing.T) {
	f := newFormat([]config.Endpoint{{Name: "orders"}, {Name: "a-longer-name", DeadLetter: config.DeadLetter{By: config.DeadLetterByGateway}}}, []string{"orders"})
	got := strings.Join([]string{
		f.header(),
		f.line(gateway.Delivery{
			Endpoint: "orders", Topic: "orders", Partition: 2, Offset: 17, Key: []byte("customer-1"), DeliveryCount: 1,
			Attempts: 3, Status: 503, Acknowledgement: "release", Reason: "status_5xx", Elapsed: 1234567 * time.Microsecond,
		}),
		f.line(gateway.Delivery{
			Endpoint: "a-longer-name", Topic: "orders", Key: []byte("\x1b[2Jmore than there is room"), DeliveryCount: 10,
			Attempts: 1, Acknowledgement: "reject", Reason: "connect", DeadLetter: "delivery_limit",
		}),
		f.line(gateway.Delivery{Endpoint: "orders", Topic: "orders", DeliveryCount: 2, Interrupted: true, Reason: "stopped"}),
		f.line(gateway.Delivery{Endpoint: "orders", Topic: "orders", DeliveryCount: 2, Acknowledgement: "accept", Err: errors.New("late")}),
		f.line(gateway.Delivery{Endpoint: "orders", Topic: "orders", Key: []byte{0xff}, DeliveryCount: 2, Acknowledgement: "reject", DeadLetter: "rejected"}),
	}, "\n")
	want := strings.Trim(`
ENDPOINT       RECORD          KEY               DELIVERY  ATTEMPTS  STATUS  ACKNOWLEDGED  REASON      ELAPSED
orders         orders/2/17     customer-1               1         3     503  release       status_5xx   1.235s  comes again
a-longer-name  orders/0/0      \x1b[2Jmore tha…        10         1       -  reject        connect          0s  dead letter
orders         orders/0/0      -                        2         0       -  given back    stopped          0s
orders         orders/0/0      -                        2         0       -  accept                         0s  not confirmed: late
orders         orders/0/0      ff                       2         0       -  reject                         0s  dropped
`, "\n")
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// stuck is a reader that takes one line and then waits.
type stuck struct {
	taken, goOn chan struct{}
	text        strings.Builder
}

func (s *stuck) Write(p []byte) (int, error) {
	if s.text.Len() == 0 {
		close(s.taken)
		<-s.goOn
	}
	return s.text.Write(p)
}

func TestLinesDoNotWaitForAReader(t *testing.T) {
	w := &stuck{taken: make(chan struct{}), goOn: make(chan struct{})}
	l := newLines(w, true, []config.Endpoint{{Name: "a"}}, nil)
	d := gateway.Delivery{Endpoint: "a", Acknowledgement: "accept"}
	l.delivered(d)
	<-w.taken
	for range queueLength + 7 {
		l.delivered(d)
	}
	close(w.goOn)
	l.close()
	if n := strings.Count(w.text.String(), "\x1b[32m"); n != queueLength+1 {
		t.Errorf("%d lines, want %d", n, queueLength+1)
	}
	if !strings.Contains(w.text.String(), "(7 deliveries are not shown") {
		t.Error("it does not say what is missing")
	}
}

func TestSummary(t *testing.T) {
	s := Summary{
		Counts:   Counts{Settled: 30, Accepted: 20, Released: 7, Rejected: 10, DeadLetters: 10},
		Produced: 31, Expected: 31, Elapsed: 1500 * time.Millisecond,
		LetterTopics: []string{"dlq.a"}, OnTopics: 10,
		Endpoints: []Counts{{Endpoint: "a", Settled: 30, Accepted: 20, Released: 7, Rejected: 10, DeadLetters: 10}},
	}
	var text strings.Builder
	if err := s.Print(&text); err != nil {
		t.Fatal(err)
	}
	want := strings.TrimPrefix(`
accepted            20
released             7   times; a released record comes again
rejected            10   by the endpoint, or out of deliveries
dead letters        10   10 on dlq.a
settled             30   accepted or rejected, of 31
rate              20.0   settled in a second
elapsed           1.5s   from the first record to the last one settled
`, "\n")
	if text.String() != want {
		t.Errorf("got\n%s\nwant\n%s", text.String(), want)
	}

	raw, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]float64{
		"settled": 30, "accepted": 20, "released": 7, "rejected": 10, "dead_letters": 10, "produced": 31,
		"dead_letters_on_topics": 10, "rate": 20, "elapsed_seconds": 1.5,
	} {
		if got[name] != value {
			t.Errorf("%s is %v, want %v", name, got[name], value)
		}
	}
}
