package main

import (
	"archive/tar"
	"bytes"
	"io"
	"os"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// nobody is the user in the image, with the number that distroless images use.
const nobody = 65532

// image makes a container image with the program alone, as an archive for docker load and podman load. There is
// nothing else in it: the program has the certificates of authorities built in, and needs no C library. Every time in
// it is the release's, and the layer is made here, so that it is the same to the byte.
func (r *release) image(t target, program string) error {
	bytesOf, err := r.root(program)
	if err != nil {
		return err
	}
	// The layer is read several times, for its digest and when it is written.
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(bytesOf)), nil
	})
	if err != nil {
		return err
	}
	made, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return err
	}
	config, err := made.ConfigFile()
	if err != nil {
		return err
	}
	// ConfigFile returns what the image itself uses.
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = t.os, t.arch, v1.Time{Time: r.time}
	config.Config = v1.Config{
		Entrypoint: []string{"/imagegend"}, Cmd: []string{"serve", "--addr", ":8080", "--data-dir", "/data"},
		User: "65532:65532", WorkingDir: "/data", Volumes: map[string]struct{}{"/data": {}},
		ExposedPorts: map[string]struct{}{"8080/tcp": {}}, StopSignal: "SIGTERM",
		Labels: map[string]string{
			"org.opencontainers.image.title": "imagegend", "org.opencontainers.image.version": r.version,
			"org.opencontainers.image.licenses": "Apache-2.0",
			"org.opencontainers.image.source":   "https://github.com/imagegend/imagegend",
		},
	}
	if made, err = mutate.ConfigFile(made, config); err != nil {
		return err
	}
	if made, err = mutate.CreatedAt(made, v1.Time{Time: r.time}); err != nil {
		return err
	}
	tag, err := name.NewTag("imagegend:" + r.version)
	if err != nil {
		return err
	}
	return tarball.WriteToFile(r.name(t, ".oci.tar"), tag, made)
}

// root returns the image's file system as a tar stream: /data for the user, /tmp for --dev and for what commands keep
// for a moment, a passwd entry so that the user has a name, and the program.
func (r *release) root(program string) ([]byte, error) {
	b, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, d := range []*tar.Header{
		// A volume that docker makes for /data gets owner and mode of this directory.
		{Name: "data/", Mode: 0o700, Uid: nobody, Gid: nobody},
		{Name: "tmp/", Mode: 0o1777},
		{Name: "etc/", Mode: 0o755},
	} {
		d.Typeflag, d.ModTime, d.Format = tar.TypeDir, r.time, tar.FormatPAX
		if err := w.WriteHeader(d); err != nil {
			return nil, err
		}
	}
	passwd := []byte("imagegend:x:65532:65532::/data:/sbin/nologin\n")
	for _, f := range []struct {
		name  string
		mode  int64
		bytes []byte
	}{{"etc/passwd", 0o644, passwd}, {"imagegend", 0o755, b}} {
		if err := w.WriteHeader(header(f.name, f.mode, int64(len(f.bytes)), r.time)); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.bytes); err != nil {
			return nil, err
		}
	}
	err = w.Close()
	return out.Bytes(), err
}
