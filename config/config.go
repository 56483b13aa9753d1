package config

import (
	"log/slog"
	"net/url"
	"strconv"
	"time"
)

// Config is a whole, checked configuration: every default is filled in and
// every value is within its bounds.
type Config struct {
	Kafka     Kafka      `yaml:"kafka"`
	Admin     Admin      `yaml:"admin"`
	Shutdown  Shutdown   `yaml:"shutdown"`
	Endpoints []Endpoint `yaml:"endpoints"`

	source string            // the file or folder
	read   []string          // files that it was made of, without those that TLS names
	hidden map[string]string // by path: what to show of a value that was brought in
}

// LogValue shows of a configuration what a log may hold, for slog.
func (c *Config) LogValue() slog.Value { return slog.StringValue(c.Summary()) }

// Kafka says how to reach the cluster.
type Kafka struct {
	Brokers  []string `yaml:"brokers"`
	ClientID string   `yaml:"client_id"`
	TLS      *TLS     `yaml:"tls"`  // nil: plaintext
	SASL     *SASL    `yaml:"sasl"` // nil: no authentication
}

// TLS holds the TLS settings of a client. Paths are absolute or relative to
// the working directory: Load has resolved them against the file.
type TLS struct {
	CAFile             string `yaml:"ca_file"`
	CertFile           string `yaml:"cert_file"`
	KeyFile            string `yaml:"key_file"`
	ServerName         string `yaml:"server_name"`
	InsecureSkipVerify bool   `yaml:"insecure_skip_verify"`
}

// SASL mechanisms that the parser knows.
const (
	SASLPlain       = "PLAIN"
	SASLScramSHA256 = "SCRAM-SHA-256"
	SASLScramSHA512 = "SCRAM-SHA-512"
)

// SASL holds the credentials of the Kafka connection.
type SASL struct {
	Mechanism string `yaml:"mechanism"`
	Username  string `yaml:"username"`
	Password  Secret `yaml:"password"`
}

// Admin is the admin server: health, metrics, API.
type Admin struct {
	Listen string `yaml:"listen"` // host:port; empty: off
	Token  Secret `yaml:"token"`
}

// Shutdown bounds the drain.
type Shutdown struct {
	Grace time.Duration `yaml:"grace"`
}

// Endpoint is one HTTP endpoint with the share group that feeds it.
type Endpoint struct {
	Name           string            `yaml:"name"`
	Topics         []string          `yaml:"topics"` // an entry that starts with ^ is a regular expression
	URL            string            `yaml:"url"`
	Enabled        bool              `yaml:"enabled"`
	ShareGroup     ShareGroup        `yaml:"share_group"`
	Members        int               `yaml:"members"`
	Concurrency    int               `yaml:"concurrency"`
	MaxHeld        int               `yaml:"max_held"`
	ReadAhead      ReadAhead         `yaml:"read_ahead"`
	RateLimit      Rate              `yaml:"rate_limit"` // of POSTs
	Timeout        time.Duration     `yaml:"timeout"`
	Headers        map[string]string `yaml:"headers"`
	ForwardHeaders ForwardHeaders    `yaml:"forward_headers"`
	Format         string            `yaml:"format"`
	ContentType    string            `yaml:"content_type"`
	CloudEvents    CloudEvents       `yaml:"cloudevents"`
	Auth           Auth              `yaml:"auth"`
	Signing        Signing           `yaml:"signing"`
	TLS            *TLS              `yaml:"tls"`
	Proxy          string            `yaml:"proxy"` // "none": no proxy; empty: the environment's
	Network        Network           `yaml:"network"`
	Status         Status            `yaml:"status"`
	HonourAction   bool              `yaml:"honour_action"`
	Retry          Retry             `yaml:"retry"`
	Breaker        Breaker           `yaml:"breaker"`
	DeadLetter     DeadLetter        `yaml:"dead_letter"`
}

// Origin returns scheme, host and port of the URL: all of it that may be shown,
// as paths and queries carry tokens.
func (e Endpoint) Origin() string {
	u, err := url.Parse(e.URL)
	if err != nil {
		return ""
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host}).String()
}

// LogValue shows of an endpoint what a log may hold, for slog.
func (e Endpoint) LogValue() slog.Value {
	return slog.GroupValue(slog.String("name", e.Name), slog.String("url", e.Origin()))
}

// ReadAhead is the number of records acquired before a POST slot is free for
// them. Auto lets the gateway follow the endpoint's speed.
type ReadAhead struct {
	Auto    bool
	Records int // when not Auto
}

// autoWord is how the file says Auto.
const autoWord = "auto"

// String returns auto or the number, as the file would have it.
func (r ReadAhead) String() string {
	if r.Auto {
		return autoWord
	}
	return strconv.Itoa(r.Records)
}

// ShareGroup holds the wishes for an endpoint's share group.
type ShareGroup struct {
	Name           string        `yaml:"name"`
	Start          string        `yaml:"start"`     // latest, earliest, by_duration:<ISO 8601>
	Isolation      string        `yaml:"isolation"` // read_committed, read_uncommitted
	Lock           time.Duration `yaml:"lock"`
	MaxDeliveries  int           `yaml:"max_deliveries"`
	MaxRecordLocks int           `yaml:"max_record_locks"`
}

// ForwardHeaders says which record headers become HTTP headers: those that
// match a glob of Include and none of Exclude, with Prefix before the name.
type ForwardHeaders struct {
	Include []string `yaml:"include"`
	Exclude []string `yaml:"exclude"`
	Prefix  string   `yaml:"prefix"`
}

// Formats of the body.
const (
	FormatRaw                   = "raw"
	FormatJSON                  = "json"
	FormatCloudEventsBinary     = "cloudevents-binary"
	FormatCloudEventsStructured = "cloudevents-structured"
)

// CloudEvents holds attributes of the events that are made from records; what
// is empty is taken from the record.
type CloudEvents struct {
	Type    string `yaml:"type"`
	Source  string `yaml:"source"`
	Subject string `yaml:"subject"`
}

// Auth is how the gateway authenticates at an endpoint; at most one is not nil.
type Auth struct {
	Basic      *BasicAuth  `yaml:"basic"`
	Bearer     *BearerAuth `yaml:"bearer"`
	Header     *HeaderAuth `yaml:"header"`
	OAuth2     *OAuth2     `yaml:"oauth2"`
	AWSSigV4   *AWSSigV4   `yaml:"aws_sigv4"`
	GCPIDToken *GCPIDToken `yaml:"gcp_id_token"`
}

// BasicAuth is user and password.
type BasicAuth struct {
	Username string `yaml:"username"`
	Password Secret `yaml:"password"`
}

// BearerAuth is a token that stays the same.
type BearerAuth struct {
	Token Secret `yaml:"token"`
}

// HeaderAuth is a header that holds a credential.
type HeaderAuth struct {
	Name  string `yaml:"name"`
	Value Secret `yaml:"value"`
}

// OAuth2 is the client credentials grant.
type OAuth2 struct {
	TokenURL     string   `yaml:"token_url"`
	ClientID     string   `yaml:"client_id"`
	ClientSecret Secret   `yaml:"client_secret"`
	Scopes       []string `yaml:"scopes"`
	Audience     string   `yaml:"audience"`
}

// AWSSigV4 is AWS Signature Version 4.
type AWSSigV4 struct {
	Region  string `yaml:"region"`
	Service string `yaml:"service"`
}

// GCPIDToken is a Google ID token.
type GCPIDToken struct {
	Audience string `yaml:"audience"`
}

// Signing holds the secrets of Standard Webhooks that every POST is signed
// with, the newest first. None: nothing is signed.
type Signing struct {
	Secrets []Secret `yaml:"secrets"`
}

// Network says which addresses are not dialled: groups (metadata, link-local,
// loopback, private) and prefixes. Allow beats Deny.
type Network struct {
	Deny  []string `yaml:"deny"`
	Allow []string `yaml:"allow"`
}

// Status maps status codes and classes ("503", "5xx") to verdicts. A code
// beats a class.
type Status struct {
	Accept  []string `yaml:"accept"`
	Release []string `yaml:"release"`
	Reject  []string `yaml:"reject"`
}

// Retry is the back-off inside one delivery.
type Retry struct {
	Attempts            int           `yaml:"attempts"`
	InitialInterval     time.Duration `yaml:"initial_interval"`
	Multiplier          float64       `yaml:"multiplier"`
	RandomizationFactor float64       `yaml:"randomization_factor"`
	MaxInterval         time.Duration `yaml:"max_interval"`
	MaxElapsedTime      time.Duration `yaml:"max_elapsed_time"`
	MaxRetryAfter       time.Duration `yaml:"max_retry_after"`
}

// Breaker says when an endpoint is left alone, and for how long.
type Breaker struct {
	Enabled      bool          `yaml:"enabled"`
	Window       time.Duration `yaml:"window"`
	MinAttempts  int           `yaml:"min_attempts"`
	FailureRatio float64       `yaml:"failure_ratio"`
	RejectRatio  float64       `yaml:"reject_ratio"`
	Cooldown     time.Duration `yaml:"cooldown"`
	MaxCooldown  time.Duration `yaml:"max_cooldown"`
}

// Who writes dead letters.
const (
	DeadLetterByBroker  = "broker"
	DeadLetterByGateway = "gateway"
	DeadLetterByNone    = "none"
)

// DeadLetter says who writes dead letters, and where to.
type DeadLetter struct {
	By         string `yaml:"by"`
	Topic      string `yaml:"topic"`
	CopyRecord bool   `yaml:"copy_record"`
}
