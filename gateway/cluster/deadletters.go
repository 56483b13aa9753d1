package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// CheckDeadLetters looks whether dead letters will be written as the file
// wishes, and returns what is wrong. Kafka accepts every wrong set-up without
// a word, confirms the reject, and drops the record; and a set-up that is
// right can become wrong while the endpoint runs. So an endpoint with a
// [Fault] must not run, and the check belongs in front of every start and
// again from time to time.
//
// A part that the cluster does not permit to read (it needs DESCRIBE_CONFIGS
// on the group, the topics and the cluster) is [Unverified]. The error is that
// the cluster could not be asked at all; it says nothing about the set-up.
func (c *Cluster) CheckDeadLetters(ctx context.Context, w Wishes) (Findings, error) {
	f, err := c.facts(ctx, w, false)
	if err != nil {
		return nil, fmt.Errorf("check the dead letters of endpoint %q: %w", w.Endpoint, err)
	}
	return judge(w, f), nil
}

// judge says what is wrong with facts.
func judge(w Wishes, f facts) Findings {
	j := judgement{w: w, f: f}
	switch w.DeadLetterBy {
	case ByBroker:
		j.byBroker()
	case ByGateway:
		j.byGateway()
	case ByNone:
		j.byNone()
	default:
		j.nobody()
	}
	return j.Findings
}

type judgement struct {
	Findings

	w Wishes
	f facts
}

const provision = "run `sharehook provision`"

func (j *judgement) byBroker() {
	if !j.supported() {
		return // all else would be wrong for this reason
	}
	if !j.settingsSeen() {
		j.writtenTo(j.w.DeadLetterTopic)
		return
	}
	named := j.f.settings.DeadLetterTopic
	if named == "" {
		j.add(Fault, fmt.Sprintf("%s, or set %s=%s on the group", provision, groupDeadLetters, j.w.DeadLetterTopic),
			"share group %q names no dead-letter topic: the broker would drop rejected records", j.w.Group)
		return
	}
	if named != j.w.DeadLetterTopic {
		j.add(Warning, provision+", or set dead_letter.topic to the group's",
			"share group %q sends dead letters to topic %q, the file wishes %q", j.w.Group, named, j.w.DeadLetterTopic)
	}
	j.writtenTo(named)
}

// writtenTo judges the topic that the broker is to write to.
func (j *judgement) writtenTo(name string) {
	j.loop(name)
	j.prefix(name)
	if !j.topicSeen(j.f.brokers.autoCreate) {
		return
	}
	if j.f.letters.values[topicDeadLetters].text != "true" {
		j.add(Fault, fmt.Sprintf("%s, or set %s=true on the topic", provision, topicDeadLetters),
			"topic %q does not admit dead letters of groups: the broker would drop rejected records", name)
	}
	j.compacted()
	if j.w.CopyRecord {
		j.size("would hold neither key nor value")
	}
}

// supported says whether the cluster has dead letters at all, and adds a
// fault if it does not.
func (j *judgement) supported() bool {
	lacks := j.f.settingsErr == nil && !j.f.settings.KnowsDeadLetters()
	switch f := j.f.feature; {
	case f.supported < deadLetterVersion || lacks:
		j.add(Fault, "upgrade the brokers to Kafka 4.4, or set dead_letter.by to gateway",
			"the brokers write no dead letters (KIP-1191, Kafka 4.4): they would drop rejected records")
	case f.finalized < deadLetterVersion:
		j.add(Fault, "run `kafka-features.sh upgrade --feature share.version=2`, or set dead_letter.by to gateway",
			"the cluster runs with share.version=%d, dead letters by the broker need 2: it would drop rejected records", f.finalized)
	default:
		return true
	}
	return false
}

// deadLetterVersion is the level of share.version that brought KIP-1191.
const deadLetterVersion = 2

func (j *judgement) prefix(name string) {
	if j.f.brokersErr != nil {
		j.add(Unverified, "grant DESCRIBE_CONFIGS on the cluster",
			"the prefix that dead-letter topics must have could not be read: %v", j.f.brokersErr)
		return
	}
	for _, p := range j.f.brokers.prefixes {
		if !strings.HasPrefix(name, p) {
			j.add(Fault, fmt.Sprintf("choose a dead_letter.topic that starts with %q, or change %s of the cluster", p, brokerPrefix),
				"dead-letter topic %q does not start with %q: the broker would drop rejected records", name, p)
		}
	}
}

func (j *judgement) byGateway() {
	if j.settingsSeen() && j.f.settings.DeadLetterTopic != "" {
		j.add(Fault, fmt.Sprintf("%s, or clear %s of the group, or set dead_letter.by to broker", provision, groupDeadLetters),
			"share group %q names the dead-letter topic %q: broker and gateway would both write", j.w.Group, j.f.settings.DeadLetterTopic)
	}
	j.loop(j.w.DeadLetterTopic)
	if !j.topicSeen(false) {
		return
	}
	j.compacted()
	j.size("would be refused, and the record held")
}

func (j *judgement) byNone() {
	if j.settingsSeen() && j.f.settings.DeadLetterTopic != "" {
		j.add(Warning, fmt.Sprintf("%s, or set dead_letter.by to broker", provision),
			"share group %q names the dead-letter topic %q, the file wishes none: the broker writes dead letters there", j.w.Group, j.f.settings.DeadLetterTopic)
		return
	}
	j.add(Warning, "set dead_letter.by to broker or gateway to keep them",
		"endpoint %q has no dead letters: rejected records are dropped", j.w.Endpoint)
}

func (j *judgement) nobody() {
	j.add(Fault, "set dead_letter.by to broker, gateway or none", "dead_letter.by of endpoint %q is %q", j.w.Endpoint, j.w.DeadLetterBy)
}

// unfit finds that the wished topic can never hold dead letters.
func (j *judgement) unfit() {
	j.loop(j.w.DeadLetterTopic)
	j.compacted()
}

func (j *judgement) settingsSeen() bool {
	if j.f.settingsErr == nil {
		return true
	}
	j.add(Unverified, "grant DESCRIBE_CONFIGS on the group",
		"whether share group %q names a dead-letter topic could not be read: %v", j.w.Group, j.f.settingsErr)
	return false
}

// topicSeen says whether the topic is there and its settings are known.
func (j *judgement) topicSeen(autoCreate bool) bool {
	switch t := j.f.letters; {
	case t.err != nil:
		j.add(Unverified, "grant DESCRIBE and DESCRIBE_CONFIGS on the topic",
			"whether dead-letter topic %q exists could not be read: %v", t.name, t.err)
	case !t.exists && autoCreate:
		j.add(Warning, provision+" to choose its partitions and replicas",
			"dead-letter topic %q does not exist: the broker makes it for the first dead letter", t.name)
	case !t.exists:
		j.add(Fault, provision+", or create it", "dead-letter topic %q does not exist", t.name)
	case t.valuesErr != nil:
		j.add(Unverified, "grant DESCRIBE_CONFIGS on the topic",
			"the settings of dead-letter topic %q could not be read: %v", t.name, t.valuesErr)
	default:
		return true
	}
	return false
}

// compacted is a fault whoever writes: a letter without a key is refused, and
// one with a key vanishes when the next one of that key comes.
func (j *judgement) compacted() {
	if j.f.letters.compacted() {
		j.add(Fault, fmt.Sprintf("set %s=delete on the topic, or choose another dead_letter.topic", topicCleanup),
			"dead-letter topic %q is compacted: dead letters would be refused or overwritten", j.f.letters.name)
	}
}

func (t topic) compacted() bool {
	return slices.Contains(strings.Split(t.values[topicCleanup].text, ","), "compact")
}

// size warns of source topics whose records can be too large for the
// dead-letter topic.
func (j *judgement) size(effect string) {
	have := j.f.letters.maxMessage()
	for _, s := range j.f.sources {
		if need := s.maxMessage(); have != 0 && need > have {
			j.add(Warning, fmt.Sprintf("%s, or set %s of the dead-letter topic above %d", provision, topicMaxMessage, need),
				"topic %q takes records up to %d bytes, dead-letter topic %q only up to %d: the dead letter of a larger record %s",
				s.name, need, j.f.letters.name, have, effect)
		}
	}
}

// loop finds the endpoint that would be sent its own dead letters: rejected
// again, each of them would come back for ever.
func (j *judgement) loop(letters string) {
	if j.w.names(letters) {
		j.add(Fault, "take it out of the endpoint's topics",
			"endpoint %q has its own dead-letter topic %q among its topics: a dead letter that is rejected would come back for ever", j.w.Endpoint, letters)
	}
}
