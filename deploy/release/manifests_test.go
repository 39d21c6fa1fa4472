package main

import (
	"context"
	"os"
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
	for file, services := range map[string][]string{"compose.yaml": {"imagegend"}, "compose.scale.yaml": {"node1",
		"node2", "node3"}} {
		t.Run(file, func(t *testing.T) {
			is := is.New(t)
			b, err := os.ReadFile("../" + file)
			is.NoErr(err)
			project, err := loader.LoadWithContext(context.Background(), types.ConfigDetails{WorkingDir: t.TempDir(),
				ConfigFiles: []types.ConfigFile{{Filename: file, Content: b}}},
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
	kinds := map[string]any{"ConfigMap": new(corev1.ConfigMap), "StatefulSet": &set, "Service": new(corev1.Service),
		"PodDisruptionBudget": new(policyv1.PodDisruptionBudget)}
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
