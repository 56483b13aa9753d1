package dev

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// Counts are what became of an endpoint's records. Settled = Accepted +
// Rejected; a record counts once, however often it was delivered.
type Counts struct {
	Endpoint    string `json:"endpoint,omitempty"`
	Settled     int    `json:"settled"`
	Accepted    int    `json:"accepted"`
	Released    int    `json:"released"`     // deliveries, not records: they come again
	Rejected    int    `json:"rejected"`     // by the endpoint, or as their deliveries are used up
	DeadLetters int    `json:"dead_letters"` // of those rejected: written by the gateway
}

// Summary is the table at the end.
type Summary struct {
	Counts // of all endpoints

	Produced int           // sample records
	Expected int           // the same, once for each endpoint that they are for
	Elapsed  time.Duration // from the first record to the last that was settled

	// LetterTopics are the dead-letter topics and OnTopics the records that
	// lie on them: what the brokers have, not what was counted on the way.
	LetterTopics []string
	OnTopics     int64

	Endpoints []Counts
}

// Rate is the number of records settled in a second.
func (s Summary) Rate() float64 {
	if s.Elapsed <= 0 {
		return 0
	}
	return float64(s.Settled) / s.Elapsed.Seconds()
}

// MarshalJSON has times in seconds and the rate in it.
func (s Summary) MarshalJSON() ([]byte, error) {
	topics := s.LetterTopics
	if topics == nil {
		topics = []string{} // an array in JSON, never null
	}
	return json.Marshal(struct {
		Counts
		Produced     int      `json:"produced"`
		LetterTopics []string `json:"dead_letter_topics"`
		OnTopics     int64    `json:"dead_letters_on_topics"`
		Rate         float64  `json:"rate"` // records in a second
		Elapsed      float64  `json:"elapsed_seconds"`
		Endpoints    []Counts `json:"endpoints"`
	}{s.Counts, s.Produced, topics, s.OnTopics, s.Rate(), s.Elapsed.Seconds(), s.Endpoints})
}

// Print writes the table for a person.
func (s Summary) Print(w io.Writer) error {
	var text strings.Builder
	t := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	// Numbers are put to the right by hand: tabwriter does so with all columns.
	line := func(what, value, note string) { _, _ = fmt.Fprintf(t, "%s\t%8s\t %s\n", what, value, note) }
	count := func(what string, of func(Counts) int, note string) {
		if len(s.Endpoints) > 1 {
			note = strings.TrimPrefix(note+"; "+s.each(of), "; ")
		}
		line(what, strconv.Itoa(of(s.Counts)), note)
	}
	count("accepted", func(c Counts) int { return c.Accepted }, "")
	count("released", func(c Counts) int { return c.Released }, "times; a released record comes again")
	count("rejected", func(c Counts) int { return c.Rejected }, "by the endpoint, or out of deliveries")
	count("dead letters", func(c Counts) int { return c.DeadLetters }, s.letters())
	count("settled", func(c Counts) int { return c.Settled }, fmt.Sprintf("accepted or rejected, of %d", s.Expected))
	line("rate", fmt.Sprintf("%.1f", s.Rate()), "settled in a second")
	line("elapsed", s.Elapsed.Round(10*time.Millisecond).String(), "from the first record to the last one settled")
	if err := t.Flush(); err != nil {
		return err
	}
	for row := range strings.Lines(text.String()) {
		if _, err := fmt.Fprintln(w, strings.TrimRight(row, " \n")); err != nil {
			return err
		}
	}
	return nil
}

// letters says what really lies on the dead-letter topics.
func (s Summary) letters() string {
	if len(s.LetterTopics) == 0 {
		return "none are written: dead_letter.by is none"
	}
	return fmt.Sprintf("%d on %s", s.OnTopics, strings.Join(s.LetterTopics, ", "))
}

// each is a number of each endpoint.
func (s Summary) each(of func(Counts) int) string {
	parts := make([]string, len(s.Endpoints))
	for i, c := range s.Endpoints {
		parts[i] = fmt.Sprintf("%s %d", c.Endpoint, of(c))
	}
	return strings.Join(parts, ", ")
}
