package bubble

import (
	"context"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// letter is a dead letter that the gateway wrote.
type letter struct {
	record  coordinates
	key     string
	value   []byte
	headers []kgo.RecordHeader // the record's own
	story   map[string]string  // the others, without sharehook.dead_letter.
}

// answer is the excerpt of the last answer.
func (l letter) answer() string {
	text, err := base64.StdEncoding.DecodeString(l.story["answer"])
	if err != nil {
		return fmt.Sprintf("%q: %v", l.story["answer"], err)
	}
	return string(text)
}

// letters reads all of a dead-letter topic.
func (b *bed) letters(topic string) []letter {
	b.t.Helper()
	info := b.broker.PartitionInfo(topic, 0)
	if info == nil || info.HighWatermark == 0 {
		return nil
	}
	cl := b.newClient(kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: {0: kgo.NewOffset().AtStart()}}))
	ctx, cancel := context.WithTimeout(b.t.Context(), time.Minute)
	defer cancel()
	var letters []letter
	for int64(len(letters)) < info.HighWatermark {
		fetches := cl.PollFetches(ctx)
		if err := fetches.Err0(); err != nil {
			b.t.Fatalf("read topic %q: %v", topic, err)
		}
		fetches.EachRecord(func(r *kgo.Record) { letters = append(letters, newLetter(r)) })
	}
	cl.Close()
	return letters
}

func newLetter(r *kgo.Record) letter {
	l := letter{key: string(r.Key), value: r.Value, story: map[string]string{}}
	for _, h := range r.Headers {
		if name, ok := strings.CutPrefix(h.Key, "sharehook.dead_letter."); ok {
			l.story[name] = string(h.Value)
		} else {
			l.headers = append(l.headers, h)
		}
	}
	partition, _ := strconv.Atoi(l.story["partition"])
	offset, _ := strconv.Atoi(l.story["offset"])
	l.record = coordinates{l.story["topic"], int32(partition), int64(offset)}
	return l
}

// account is what a scenario allows.
type account struct {
	letters    string // the topic of dead letters by the gateway; empty: there is none
	duplicates int    // requests with records that had been accepted before
	// lostAnswers: the broker's answers to acknowledgements may get lost. What
	// the gateway was not told counts then, if the lag says so.
	lostAnswers bool
}

// account checks that each record that was produced has ended, in one way, and
// rightly so. Lag 0 says that none is left. Call it when all is settled.
func (b *bed) account(a account) {
	b.t.Helper()
	accepted, dead := b.outcomes(a.lostAnswers)
	if a.letters != "" {
		dead = map[coordinates]int{}
		for _, l := range b.letters(a.letters) {
			dead[l.record]++
		}
	}
	answered, duplicates := b.answered()
	for record := range b.produced {
		switch {
		case accepted[record] == 0 && dead[record] == 0:
			b.t.Errorf("%v: lost: neither accepted nor a dead letter", record)
		case accepted[record] > 0 && dead[record] > 0:
			b.t.Errorf("%v: accepted and a dead letter", record)
		case accepted[record]+dead[record] > 1:
			b.t.Errorf("%v: ended %d times", record, accepted[record]+dead[record])
		case accepted[record] > 0 && !answered[record]:
			b.t.Errorf("%v: accepted, but no answer said so", record)
		}
	}
	if duplicates > a.duplicates {
		b.t.Errorf("%d requests with records that had been accepted, want at most %d", duplicates, a.duplicates)
	}
}

// outcomes are how often each record was accepted or became a dead letter, as
// the gateways tell it.
func (b *bed) outcomes(lostAnswers bool) (accepted, dead map[coordinates]int) {
	accepted, dead = map[coordinates]int{}, map[coordinates]int{}
	for _, g := range b.gateways {
		for _, d := range g.all() {
			record := coordinates{d.Topic, d.Partition, d.Offset}
			if d.Acknowledgement == "accept" && (d.Err == nil || lostAnswers) {
				accepted[record]++
			}
			if d.DeadLetter != "" {
				dead[record]++
			}
		}
	}
	return accepted, dead
}

// answered are the records that an endpoint has answered with 2xx, and the
// number of requests that came with them after that.
func (b *bed) answered() (answered map[coordinates]bool, duplicates int) {
	answered = map[coordinates]bool{}
	for _, h := range b.hooks {
		here := map[coordinates]time.Duration{}
		for _, c := range h.all() {
			if at, ok := here[c.record]; ok && c.at >= at {
				duplicates++
			} else if c.status/100 == 2 {
				here[c.record] = c.ended
				answered[c.record] = true
			}
		}
	}
	return answered, duplicates
}

// gaps are the times between one call and the next.
func gaps(calls []call) []time.Duration {
	var between []time.Duration
	for i := range len(calls) - 1 {
		between = append(between, calls[i+1].at-calls[i].at)
	}
	return between
}
