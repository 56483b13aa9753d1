package test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/sharehook/sharehook/config"
)

// leaving is what a process needs beyond shutdown.grace: to leave the groups,
// and 2 s at most to flush telemetry.
const leaving = 3 * time.Second

func TestExamplesAreValid(t *testing.T) {
	examples, err := filepath.Glob("../deploy/examples/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if len(examples) == 0 {
		t.Fatal("there are no examples")
	}
	for _, path := range append(examples, "../deploy/compose/sharehook.yaml") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			parseConfig(t, path, readFile(t, path))
		})
	}
}

func TestEveryDeployedFileIsYAML(t *testing.T) {
	err := filepath.WalkDir("../deploy", func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".yaml" {
			return err
		}
		var document any
		decode(t, path, readFile(t, path), &document)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestKubernetesLeavesTimeToDrain(t *testing.T) {
	var configMap struct{ Data map[string]string }
	decodeFile(t, "../deploy/kubernetes/configmap.yaml", &configMap)
	c := parseConfig(t, "configmap.yaml: sharehook.yaml", []byte(configMap.Data["sharehook.yaml"]))

	var deployment struct {
		Spec struct{ Template struct{ Spec podSpec } }
	}
	decodeFile(t, "../deploy/kubernetes/deployment.yaml", &deployment)
	pod := deployment.Spec.Template.Spec
	grace := time.Duration(pod.Grace) * time.Second
	if grace < c.Shutdown.Grace+leaving {
		t.Errorf("Kubernetes kills after %s; the drain may take %s and %s more", grace, c.Shutdown.Grace, leaving)
	}

	container := pod.Containers[0]
	for name, probe := range map[string]struct{ got, want string }{
		"liveness":  {container.LivenessProbe.HTTPGet.Path, "/healthz"},
		"readiness": {container.ReadinessProbe.HTTPGet.Path, "/readyz"},
	} {
		if probe.got != probe.want {
			t.Errorf("the %s probe asks %q, want %q", name, probe.got, probe.want)
		}
	}
	if s := container.SecurityContext; !s.ReadOnlyRootFilesystem || s.AllowPrivilegeEscalation || !pod.SecurityContext.RunAsNonRoot {
		t.Errorf("the container may do too much: %+v, %+v", s, pod.SecurityContext)
	}
}

// podSpec is what the tests look at in a Deployment.
type podSpec struct {
	Grace           int `yaml:"terminationGracePeriodSeconds"`
	SecurityContext struct {
		RunAsNonRoot bool `yaml:"runAsNonRoot"`
	} `yaml:"securityContext"`
	Containers []struct {
		LivenessProbe   probe `yaml:"livenessProbe"`
		ReadinessProbe  probe `yaml:"readinessProbe"`
		SecurityContext struct {
			ReadOnlyRootFilesystem   bool `yaml:"readOnlyRootFilesystem"`
			AllowPrivilegeEscalation bool `yaml:"allowPrivilegeEscalation"`
		} `yaml:"securityContext"`
	}
}

type probe struct {
	HTTPGet struct{ Path string } `yaml:"httpGet"`
}

func TestComposeLeavesTimeToDrain(t *testing.T) {
	const file = "../deploy/compose/sharehook.yaml"
	c := parseConfig(t, file, readFile(t, file))
	var compose struct {
		Services struct {
			Sharehook struct {
				Grace string `yaml:"stop_grace_period"`
			}
		}
	}
	decodeFile(t, "../deploy/compose.yaml", &compose)
	grace, err := time.ParseDuration(compose.Services.Sharehook.Grace)
	if err != nil {
		t.Fatal(err)
	}
	if grace < c.Shutdown.Grace+leaving {
		t.Errorf("compose kills after %s; the drain may take %s and %s more", grace, c.Shutdown.Grace, leaving)
	}
}

// parseConfig checks a configuration as `sharehook validate` does, on a
// machine that has every variable and file that it asks for.
func parseConfig(t *testing.T, name string, src []byte) *config.Config {
	t.Helper()
	c, err := config.Parse(name, src, config.Options{
		LookupEnv: func(string) (string, bool) { return "from-the-environment", true },
		ReadFile:  func(string) ([]byte, error) { return []byte("from-a-file\n"), nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func decodeFile(t *testing.T, path string, into any) {
	t.Helper()
	decode(t, path, readFile(t, path), into)
}

func decode(t *testing.T, name string, src []byte, into any) {
	t.Helper()
	if err := yaml.Unmarshal(src, into); err != nil {
		t.Errorf("%s: %v", name, err)
	}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
