package cluster

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Names of Kafka's settings; the release that brought each is in kafkaSince.
const (
	groupReset         = "share.auto.offset.reset"
	groupIsolation     = "share.isolation.level"
	groupLock          = "share.record.lock.duration.ms"
	groupMaxDeliveries = "share.delivery.count.limit"
	groupMaxLocks      = "share.partition.max.record.locks"
	groupRenew         = "share.renew.acknowledge.enable"
	groupDeadLetters   = "errors.deadletterqueue.topic.name"
	groupCopyRecord    = "errors.deadletterqueue.copy.record.enable"

	topicDeadLetters = "errors.deadletterqueue.group.enable"
	topicCleanup     = "cleanup.policy"
	topicMaxMessage  = "max.message.bytes"

	brokerPrefix     = "errors.deadletterqueue.topic.name.prefix"
	brokerAutoCreate = "errors.deadletterqueue.auto.create.topics.enable"
)

// Kafka's defaults for a group, where a broker knows the name of a setting
// but tells no value.
const (
	defaultReset     = "latest"
	defaultIsolation = "read_uncommitted"
)

// Settings are what the cluster has for a share group: the group's own value,
// else the broker's default for all groups. A zero number or duration and an
// empty string mean "not known", unless said otherwise.
type Settings struct {
	Group           string
	Lock            time.Duration // share.record.lock.duration.ms
	MaxDeliveries   int           // share.delivery.count.limit
	MaxRecordLocks  int           // share.partition.max.record.locks
	OffsetReset     string        // share.auto.offset.reset
	Isolation       string        // share.isolation.level
	Renew           bool          // locks may be renewed; true where the broker has no switch for it (before Kafka 4.3)
	DeadLetterTopic string        // errors.deadletterqueue.topic.name; empty: the group names none
	CopyRecord      bool          // errors.deadletterqueue.copy.record.enable

	known map[string]bool // settings that the broker has for a group at all
}

// KnowsDeadLetters says whether the broker has the settings of KIP-1191
// (Kafka 4.4) at all.
func (s Settings) KnowsDeadLetters() bool { return s.known[groupDeadLetters] }

// Settings reads what the cluster has for group, which need not exist. A
// broker that lacks some settings is no error. It needs DESCRIBE_CONFIGS on
// the group; without it, errors.Is(err, kerr.GroupAuthorizationFailed).
func (c *Cluster) Settings(ctx context.Context, group string) (Settings, error) {
	found, err := c.describe(ctx, kmsg.ConfigResourceTypeGroupConfig, []string{group}, nil)
	if err == nil {
		err = found[group].err
	}
	if err != nil {
		return Settings{}, fmt.Errorf("read the settings of share group %q: %w", group, err)
	}
	s := settingsFrom(group, found[group].values)
	if s.Lock == 0 || s.MaxDeliveries == 0 || s.MaxRecordLocks == 0 {
		// Not fatal: a principal may well see its group and not the brokers.
		if defaults, err := c.groupDefaults(ctx); err == nil {
			s.fallBack(defaults)
		} else if ctx.Err() != nil {
			return Settings{}, fmt.Errorf("read the brokers' defaults for share groups: %w", err)
		}
	}
	return s, nil
}

func settingsFrom(group string, values map[string]value) Settings {
	s := Settings{Group: group, Renew: true, known: make(map[string]bool, len(values))}
	for name := range values {
		s.known[name] = true
	}
	s.Lock = time.Duration(values[groupLock].number()) * time.Millisecond
	s.MaxDeliveries = values[groupMaxDeliveries].number()
	s.MaxRecordLocks = values[groupMaxLocks].number()
	s.OffsetReset = values[groupReset].or(s.known[groupReset], defaultReset)
	s.Isolation = values[groupIsolation].or(s.known[groupIsolation], defaultIsolation)
	s.Renew = values[groupRenew].text != "false"
	s.DeadLetterTopic = values[groupDeadLetters].text
	s.CopyRecord = values[groupCopyRecord].text == "true"
	return s
}

// fallBack takes the brokers' defaults for what the group does not tell.
func (s *Settings) fallBack(defaults map[string]value) {
	const prefix = "group." // a broker's default is named after the group's setting
	if s.Lock == 0 {
		s.Lock = time.Duration(defaults[prefix+groupLock].number()) * time.Millisecond
	}
	if s.MaxDeliveries == 0 {
		s.MaxDeliveries = defaults[prefix+groupMaxDeliveries].number()
	}
	if s.MaxRecordLocks == 0 {
		s.MaxRecordLocks = defaults[prefix+groupMaxLocks].number()
	}
}

// groupDefaults reads one broker's defaults for share groups.
func (c *Cluster) groupDefaults(ctx context.Context) (map[string]value, error) {
	m, err := c.metadata(ctx, []string{})
	if err != nil {
		return nil, err
	}
	id := strconv.Itoa(int(m.brokers[0]))
	found, err := c.describe(ctx, kmsg.ConfigResourceTypeBroker, []string{id},
		[]string{"group." + groupLock, "group." + groupMaxDeliveries, "group." + groupMaxLocks})
	if err != nil {
		return nil, err
	}
	return found[id].values, found[id].err
}
