package kafka

import (
	_ "embed"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/google/uuid"
)

// HomeVariable names the environment variable that says where the jars are:
// in its folder's subfolder libs. Without it that is
// sharehook/kafka-VERSION of the user's cache folder.
const HomeVariable = "SHAREHOOK_KAFKA_HOME"

// clusterID is the id that every cluster has; they never meet.
const clusterID = "c2hhcmVob29rLXRlc3RzLQ"

var (
	//go:embed pom.xml
	pom []byte
	//go:embed log4j2.yaml
	log4j []byte
)

// installation is Kafka on this machine, ready to be started.
type installation struct {
	home      string
	java      string
	bootstrap string // what formatting a node writes, see bootstrapFile
	archive   string // class-data archive; empty: none
}

// findInstallation looks for the jars and for Java.
func findInstallation() (*installation, error) {
	home, err := homeDir()
	if err != nil {
		return nil, err
	}
	jars, err := filepath.Glob(filepath.Join(home, "libs", "kafka_*.jar"))
	if err != nil {
		return nil, err
	}
	if len(jars) == 0 {
		return nil, fmt.Errorf("no jars of Kafka in %s; run `make kafka`, or set %s", filepath.Join(home, "libs"), HomeVariable)
	}
	java, err := exec.LookPath("java")
	if err != nil {
		return nil, fmt.Errorf("find java: %w; install a JDK of version 17 or later, or run `make kafka`", err)
	}
	return &installation{home: home, java: java}, nil
}

// homeDir is the folder that `make kafka` fills; test/kafka/install.sh has the
// same rule.
func homeDir() (string, error) {
	if home := os.Getenv(HomeVariable); home != "" {
		return filepath.Abs(home)
	}
	version, err := Version()
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("%w; set %s", err, HomeVariable)
	}
	return filepath.Join(cache, "sharehook", "kafka-"+version), nil
}

// Version is the release of Kafka that the tests run against, from pom.xml.
func Version() (string, error) {
	var project struct {
		Version string `xml:"properties>kafka.version"`
	}
	if err := xml.Unmarshal(pom, &project); err != nil {
		return "", fmt.Errorf("read pom.xml: %w", err)
	}
	if project.Version == "" {
		return "", errors.New("read pom.xml: no property kafka.version")
	}
	return project.Version, nil
}

// jvmArgs are common to all Java programs here. The heap is small and the
// compiler quick: a node lives for seconds.
func (inst *installation) jvmArgs(heap string) []string {
	return []string{
		"-Xmx" + heap, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
		// Java expands the asterisk itself.
		"-cp", filepath.Join(inst.home, "libs", "*"),
	}
}

// serverArgs are the arguments of java for a node.
func (inst *installation) serverArgs(jvm []string, properties string) []string {
	args := append(inst.jvmArgs("256m"), "-Dlog4j2.configurationFile="+inst.log4jPath())
	if inst.archive != "" {
		args = append(args, "-XX:SharedArchiveFile="+inst.archive)
	}
	args = append(args, jvm...)
	return append(args, "kafka.Kafka", properties)
}

func (inst *installation) log4jPath() string { return filepath.Join(inst.home, "log4j2.yaml") }
func (inst *installation) bootstrapPath() string {
	return filepath.Join(inst.home, "bootstrap.checkpoint")
}

// archivePath depends on the Java that wrote the archive, as no other can
// read it.
func (inst *installation) archivePath() (string, error) {
	java, err := filepath.EvalSymlinks(inst.java)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(java)
	if err != nil {
		return "", err
	}
	sum := fnv.New64a()
	fmt.Fprint(sum, java, info.Size(), info.ModTime().UnixNano())
	return filepath.Join(inst.home, fmt.Sprintf("classes-%x.jsa", sum.Sum64())), nil
}

// kafkaUUID is an id in Kafka's spelling: 22 characters of base64.
func kafkaUUID(id uuid.UUID) string { return base64.RawURLEncoding.EncodeToString(id[:]) }

// Classpath is a class path of Kafka's jars, for Java programs beside the
// nodes. Java expands its asterisk itself.
func Classpath() (string, error) {
	inst, err := findInstallation()
	if err != nil {
		return "", err
	}
	return filepath.Join(inst.home, "libs", "*"), nil
}
