package dev

import (
	"errors"
	"maps"
	"net"
	"regexp"
	"slices"
	"strings"

	"github.com/sharehook/sharehook/config"
)

// plan is what a configuration means for the embedded broker.
type plan struct {
	endpoints []config.Endpoint // those that are enabled
	topics    []string          // that get sample records
	letters   []string          // dead-letter topics
	unfed     []string          // expressions that no sample topic was found for

	// audience is how many endpoints get the records of a topic.
	audience map[string]int
}

// ErrNothingToDo is that no endpoint could get a record.
var ErrNothingToDo = errors.New("no endpoint of the configuration is enabled and has a topic that sample records can be made for")

// newPlan finds the topics of the enabled endpoints.
func newPlan(cfg *config.Config) (plan, error) {
	p := plan{audience: make(map[string]int)}
	letters, topics := make(map[string]bool), make(map[string]bool)
	for _, e := range cfg.Endpoints {
		if !e.Enabled {
			continue
		}
		p.endpoints = append(p.endpoints, e)
		if e.DeadLetter.By == config.DeadLetterByGateway {
			letters[e.DeadLetter.Topic] = true
		}
	}
	for _, e := range p.endpoints {
		for _, entry := range e.Topics {
			name, ok := sampleTopic(entry)
			if !ok {
				p.unfed = append(p.unfed, entry)
			} else if !letters[name] { // filled by dead letters alone
				topics[name] = true
			}
		}
	}
	p.topics, p.letters = slices.Sorted(maps.Keys(topics)), slices.Sorted(maps.Keys(letters))
	for _, t := range p.topics {
		for _, e := range p.endpoints {
			if takes(e, t) {
				p.audience[t]++
			}
		}
	}
	if len(p.topics) == 0 {
		return plan{}, ErrNothingToDo
	}
	return p, nil
}

// takes says whether an endpoint gets the records of a topic.
func takes(e config.Endpoint, topic string) bool {
	return slices.ContainsFunc(e.Topics, func(entry string) bool {
		if !strings.HasPrefix(entry, "^") {
			return entry == topic
		}
		pattern, err := regexp.Compile(entry)
		return err == nil && pattern.MatchString(topic)
	})
}

// adapt makes a user's configuration one for this machine: the embedded broker,
// the admin server on a loopback address, dead letters by the gateway where they
// are the broker's. Topics are new here, so reading them from the start misses
// nothing. It says what it changed about dead letters.
func adapt(cfg *config.Config, broker string) (byGateway []string) {
	cfg.Kafka = config.Kafka{Brokers: []string{broker}, ClientID: cfg.Kafka.ClientID}
	cfg.Admin.Listen = onLoopback(cfg.Admin.Listen)
	for i := range cfg.Endpoints {
		e := &cfg.Endpoints[i]
		e.ShareGroup.Start = config.StartEarliest
		if e.Enabled && e.DeadLetter.By == config.DeadLetterByBroker {
			e.DeadLetter.By = config.DeadLetterByGateway
			byGateway = append(byGateway, e.Name)
		}
	}
	return byGateway
}

// defaultAdmin is where the admin server listens if nobody else does.
const defaultAdmin = "127.0.0.1:8400"

// onLoopback is an address of the admin server with a loopback host; empty stays
// empty: there is to be none.
func onLoopback(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return listen
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

// anyPort is the same address with a port that is free.
func anyPort(listen string) string {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return listen
	}
	return net.JoinHostPort(host, "0")
}
