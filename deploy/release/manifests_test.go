package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/matryer/is"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/yaml"
)

// The Compose files are valid by the schema of their specification.
func TestCompose(t *testing.T) {
	for file, services := range map[string][]string{"compose.yaml": {"imagegend"}, "compose.scale.yaml": {"node1", "node2", "node3"}} {
		t.Run(file, func(t *testing.T) {
			is := is.New(t)
			b, err := os.ReadFile("../" + file)
			is.NoErr(err)
			project, err := loader.LoadWithContext(context.Background(), types.ConfigDetails{WorkingDir: t.TempDir(), ConfigFiles: []types.ConfigFile{{Filename: file, Content: b}}},
				func(o *loader.Options) { o.SetProjectName("imagegend", true) })
			is.NoErr(err)
			for _, name := range services {
				service := project.Services[name]
				is.True(service.ReadOnly)
				is.Equal(service.User, "65532:65532")
			}
		})
	}
}

// Each object of the Kubernetes manifest has only fields that its kind has, and runs as nobody on a read-only root.
func TestKubernetes(t *testing.T) {
	is := is.New(t)
	b, err := os.ReadFile("../kubernetes.yaml")
	is.NoErr(err)
	var set appsv1.StatefulSet
	kinds := map[string]any{"ConfigMap": new(corev1.ConfigMap), "StatefulSet": &set, "Service": new(corev1.Service), "PodDisruptionBudget": new(policyv1.PodDisruptionBudget)}
	for document := range strings.SplitSeq(string(b), "\n---\n") {
		var head struct{ Kind string }
		is.NoErr(yaml.Unmarshal([]byte(document), &head))
		into, ok := kinds[head.Kind]
		is.True(ok)
		is.NoErr(yaml.UnmarshalStrict([]byte(document), into))
		delete(kinds, head.Kind)
	}
	is.Equal(len(kinds), 0)
	pod := set.Spec.Template.Spec
	is.True(*pod.SecurityContext.RunAsNonRoot)
	is.True(*pod.Containers[0].SecurityContext.ReadOnlyRootFilesystem)
	is.True(pod.Containers[0].ReadinessProbe != nil && pod.Containers[0].LivenessProbe != nil)
}

func TestCaddyfile(t *testing.T) {
	needs(t, "caddy")
	must(t, "caddy", "validate", "--adapter", "caddyfile", "--config", "../Caddyfile")
}

func TestNginx(t *testing.T) {
	needs(t, "nginx", "openssl")
	is := is.New(t)
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	must(t, "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=images.example.com", "-out", cert, "-keyout", key)
	site, err := os.ReadFile("../nginx.conf")
	is.NoErr(err)
	text := strings.NewReplacer("/etc/ssl/images.example.com.pem", cert, "/etc/ssl/images.example.com.key", key).Replace(string(site))
	config := filepath.Join(dir, "nginx.conf")
	is.NoErr(os.WriteFile(config, []byte("events {}\npid "+dir+"/pid;\nerror_log stderr;\nhttp {\naccess_log off;\n"+text+"}\n"), 0o600))
	out, err := exec.Command("nginx", "-t", "-c", config).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
