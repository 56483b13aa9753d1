package config

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// These checks look at more than one key. What one value alone can tell is
// checked where it is decoded; here every value is either lawful or marked as
// faulty, and what is faulty is not judged again.

// endpointCheck checks one endpoint with what it inherited.
type endpointCheck struct {
	*Endpoint
	own      *section
	defaults *section // nil: none
}

// sound tells whether none of the keys has a fault of its own.
func (c endpointCheck) sound(paths ...string) bool {
	for _, p := range paths {
		if c.own.faulty[p] {
			return false
		}
		if _, overridden := c.own.places[p]; !overridden && c.defaults != nil && c.defaults.faulty[p] {
			return false
		}
	}
	return true
}

// fault reports what is wrong between keys, at the first of them that the
// endpoint writes itself, else that defaults writes, else at the nearest key
// above the first.
func (c endpointCheck) fault(reason string, paths ...string) {
	for _, s := range []*section{c.own, c.defaults} {
		if s == nil {
			continue
		}
		for _, p := range paths {
			if at, ok := s.places[p]; ok {
				s.faultAt(at, p, reason)
				return
			}
		}
	}
	at, p := c.own.nearest(paths[0])
	c.own.add(at, c.own.full(p), reason)
}

// nearest returns the place of a path or of what is written above it.
func (s *section) nearest(path string) (place, string) {
	for p := path; p != ""; {
		if at, ok := s.places[p]; ok {
			return at, path
		}
		p = p[:max(strings.LastIndexByte(p, '.'), 0)]
	}
	return s.at, path
}

// checkEndpoints checks all endpoints, each and against each other.
func (a *assembly) checkEndpoints() {
	names, groups := map[string]string{}, map[string]string{}
	for i := range a.config.Endpoints {
		e, s := &a.config.Endpoints[i], a.sections[i]
		c := endpointCheck{e, s, a.defaults}
		c.unique(names, e.Name, "name", "is the same as that of %s; rename one of them")
		if c.sound("name", "share_group.name") && e.Name != "" {
			c.unique(groups, e.ShareGroup.Name, "share_group.name", "gives the share group of %s; give each endpoint its own share_group.name")
		}
		c.topics()
		c.limits()
		c.tls()
		c.format()
		c.auth()
		c.status()
		c.retry()
		c.breaker()
		c.deadLetter()
	}
}

// unique notes a value and reports it if another endpoint has it. The value
// itself is not shown: it may have been brought in. The reason has a verb for
// the other endpoint.
func (c endpointCheck) unique(seen map[string]string, value, path, reason string) {
	if value == "" || !c.sound(path) {
		return
	}
	if first, twice := seen[value]; twice {
		c.fault(fmt.Sprintf(reason, first), path, "name")
		return
	}
	seen[value] = fmt.Sprintf("%s (%s)", c.own.path, c.own.at)
}

func (c endpointCheck) topics() {
	if !c.sound("topics") || c.anyFaulty("topics[") {
		return
	}
	first := make(map[string]int, len(c.Topics))
	for i, t := range c.Topics {
		if j, twice := first[t]; twice {
			c.fault(fmt.Sprintf("is the same as topics[%d]; remove one of them", j), item("topics", i))
			continue
		}
		first[t] = i
	}
}

// anyFaulty tells whether an element below a path has a fault, which makes the
// indices of the list unreliable.
func (c endpointCheck) anyFaulty(prefix string) bool {
	for p := range c.own.faulty {
		if strings.HasPrefix(p, prefix) {
			return true
		}
	}
	return false
}

// show names a key with its value, unless that was brought in.
func (c endpointCheck) show(path string, value any) string {
	name := path[strings.LastIndexByte(path, '.')+1:]
	if _, hidden := c.own.hidden[path]; hidden {
		return name
	}
	return fmt.Sprintf("%s (%v)", name, value)
}

func (c endpointCheck) limits() {
	if c.sound("max_held", "concurrency") && c.MaxHeld < c.Concurrency {
		c.fault(c.show("max_held", c.MaxHeld)+" is below "+c.show("concurrency", c.Concurrency)+
			", which then cannot be reached; raise max_held or lower concurrency", "max_held", "concurrency")
	}
	if c.sound("max_held", "read_ahead") && c.ReadAhead.Records > c.MaxHeld {
		c.fault(c.show("read_ahead", c.ReadAhead)+" is above "+c.show("max_held", c.MaxHeld)+
			", which counts these records too; lower read_ahead or raise max_held", "read_ahead", "max_held")
	}
}

func (c endpointCheck) tls() {
	if c.TLS == nil {
		return
	}
	if complaint, path := c.TLS.incomplete(); complaint != "" && c.sound("tls.cert_file", "tls.key_file") {
		c.fault(complaint, "tls."+path)
	}
	// From defaults tls may well meet an http endpoint; written at one it is a
	// mistake, and the dangerous kind.
	if _, own := c.own.places["tls"]; own && c.sound("url") {
		if u, err := url.Parse(c.URL); err == nil && u.Scheme == "http" {
			c.fault("is set, but the url is http, so nothing would be encrypted; write https in the url, or remove tls", "tls")
		}
	}
}

// incomplete complains of a certificate without its key or the other way
// round, and names the key that stands alone.
func (t *TLS) incomplete() (complaint, path string) {
	switch {
	case t.CertFile != "" && t.KeyFile == "":
		return "needs key_file beside it; write both or neither", "cert_file"
	case t.KeyFile != "" && t.CertFile == "":
		return "needs cert_file beside it; write both or neither", "key_file"
	}
	return "", ""
}

// status demands that no entry has two verdicts. What somebody wrote beats a
// list that nobody wrote: accept: [2xx, 3xx] alone takes 3xx out of the default
// of reject.
func (c endpointCheck) status() {
	lists := []statusList{
		{"status.accept", &c.Status.Accept},
		{"status.release", &c.Status.Release},
		{"status.reject", &c.Status.Reject},
	}
	slices.SortStableFunc(lists, func(a, b statusList) int { return c.origin(a.path) - c.origin(b.path) })
	first := map[string]string{}
	for _, l := range lists {
		if !c.sound(l.path) || c.anyFaulty(l.path+"[") {
			return
		}
		var kept []string
		for i, entry := range *l.entries {
			switch other, twice := first[entry]; {
			case !twice:
				first[entry] = l.path
				kept = append(kept, entry)
			case c.origin(l.path) == byTable:
				// left out
			case other == l.path:
				c.fault("stands in the list twice; remove one of them", item(l.path, i))
			default:
				c.fault("stands in "+other+" too; keep it in one of them", item(l.path, i))
			}
		}
		*l.entries = kept
	}
}

type statusList struct {
	path    string
	entries *[]string
}

// Where a value comes from.
const (
	byEndpoint = iota
	byDefaults
	byTable
)

func (c endpointCheck) origin(path string) int {
	if _, ok := c.own.places[path]; ok {
		return byEndpoint
	}
	if c.defaults != nil {
		if _, ok := c.defaults.places[path]; ok {
			return byDefaults
		}
	}
	return byTable
}

func (c endpointCheck) retry() {
	r := c.Retry
	if c.sound("retry.initial_interval", "retry.max_interval") && r.InitialInterval > r.MaxInterval {
		c.fault(c.show("retry.initial_interval", durationText(r.InitialInterval))+" is above "+
			c.show("retry.max_interval", durationText(r.MaxInterval))+"; lower initial_interval or raise max_interval",
			"retry.initial_interval", "retry.max_interval")
	}
}

func (c endpointCheck) breaker() {
	b := c.Breaker
	if c.sound("breaker.cooldown", "breaker.max_cooldown") && b.Cooldown > b.MaxCooldown {
		c.fault(c.show("breaker.cooldown", durationText(b.Cooldown))+" is above "+
			c.show("breaker.max_cooldown", durationText(b.MaxCooldown))+"; lower cooldown or raise max_cooldown",
			"breaker.cooldown", "breaker.max_cooldown")
	}
}

// deadLetter refuses what would push dead letters to the endpoint that
// rejected them, for ever.
func (c endpointCheck) deadLetter() {
	if c.DeadLetter.By == DeadLetterByNone || !c.sound("dead_letter.topic", "dead_letter.by", "share_group.name", "name", "topics") {
		return
	}
	if c.Name == "" && c.ShareGroup.Name == "sharehook." {
		return // the name is missing, which is said elsewhere
	}
	if checkDeadLetterTopic(c.DeadLetter.Topic) != "" { // only a default comes so far
		c.fault("makes a default dead-letter topic, dlq.<share group>, that Kafka does not allow; set dead_letter.topic", "dead_letter.topic", "share_group.name", "name")
		return
	}
	for i, t := range c.Topics {
		if t == c.DeadLetter.Topic || strings.HasPrefix(t, "^") && matches(t, c.DeadLetter.Topic) {
			c.fault("takes in the dead-letter topic of this endpoint, so that dead letters would come back for ever; "+
				"narrow it, or set another dead_letter.topic", item("topics", i))
		}
	}
}

func matches(expression, topic string) bool {
	re, err := regexp.Compile(expression)
	return err == nil && re.MatchString(topic)
}

// checkKafka checks the keys of kafka against each other.
func (s *section) checkKafka(k Kafka) {
	if k.TLS != nil {
		if complaint, path := k.TLS.incomplete(); complaint != "" && !s.faulty["tls.cert_file"] && !s.faulty["tls.key_file"] {
			at, p := s.nearest("tls." + path)
			s.faultAt(at, p, complaint)
		}
	}
	if k.SASL == nil || s.faulty["sasl.mechanism"] {
		return
	}
	for _, credential := range []struct{ path, value string }{
		{"sasl.username", k.SASL.Username},
		{"sasl.password", k.SASL.Password.Reveal()},
	} {
		if credential.value == "" && !s.faulty[credential.path] {
			at, p := s.nearest(credential.path)
			s.faultAt(at, p, "is missing; write it, as "+k.SASL.Mechanism+" needs username and password")
		}
	}
}
