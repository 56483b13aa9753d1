package gateway

import (
	"fmt"
	"log/slog"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/sharehook/sharehook/config"
)

// kafkaOptions are the options that every client of the cluster has.
func kafkaOptions(c config.Kafka, i instance, version string, log *slog.Logger) ([]kgo.Opt, error) {
	opts := []kgo.Opt{
		kgo.SeedBrokers(c.Brokers...),
		kgo.ClientID(i.clientID(c.ClientID)),
		kgo.SoftwareNameAndVersion("sharehook", version),
		kgo.WithLogger(kafkaLog{log.With("component", "kgo")}),
	}
	if c.TLS != nil {
		dialer, err := newTLSDialer(*c.TLS, log)
		if err != nil {
			return nil, fmt.Errorf("kafka.tls: %w", err)
		}
		opts = append(opts, kgo.Dialer(dialer.dial))
	}
	if c.SASL != nil {
		mechanism, err := saslMechanism(*c.SASL)
		if err != nil {
			return nil, fmt.Errorf("kafka.sasl: %w", err)
		}
		opts = append(opts, kgo.SASL(mechanism))
	}
	return opts, nil
}

func saslMechanism(c config.SASL) (sasl.Mechanism, error) {
	user, pass := c.Username, c.Password.Reveal()
	switch c.Mechanism {
	case config.SASLPlain:
		return plain.Auth{User: user, Pass: pass}.AsMechanism(), nil
	case config.SASLScramSHA256:
		return scram.Auth{User: user, Pass: pass}.AsSha256Mechanism(), nil
	case config.SASLScramSHA512:
		return scram.Auth{User: user, Pass: pass}.AsSha512Mechanism(), nil
	default:
		return nil, fmt.Errorf("mechanism %q is not known", c.Mechanism)
	}
}

// kafkaLog lets kgo's warnings through.
type kafkaLog struct{ log *slog.Logger }

// Level is the lowest level that kgo logs at.
func (kafkaLog) Level() kgo.LogLevel { return kgo.LogLevelWarn }

// Log writes one of kgo's lines.
func (k kafkaLog) Log(level kgo.LogLevel, msg string, keyvals ...any) {
	to := slog.LevelWarn
	if level == kgo.LogLevelError {
		to = slog.LevelError
	}
	k.log.Log(backgroundContext, to, msg, keyvals...) //nolint:sloglint // the message is kgo's
}
