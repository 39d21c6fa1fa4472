package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/imagegend/imagegend/bench/load"
)

const (
	ourPost     = "/api/v1/images/generations"
	theirPost   = "/generations"
	standinPost = "/v1/images/generations"

	model  = "bench"
	prompt = "a fox in the snow, seen from afar"
)

// generate is the load of generations of one image.
func (p *process) generate(path string, g generation) load.Load {
	status, text := http.StatusOK, prompt
	if g.async {
		status, text = http.StatusAccepted, "[fake:delay=5h] "+prompt
	}
	body := fmt.Sprintf(`{"model":"%s","prompt":"%s","size":"%[3]dx%[3]d","n":1,"async":%t}`, model, text,
		g.picture.edge, g.async)
	l := p.load(p.postOf(path, body), g.connections)
	l.Status = status
	return l
}

// get is the load of reading one path.
func (p *process) get(path string, connections int) load.Load {
	return p.load(p.getOf(path), connections)
}

// load is that of one request, again and again, which is answered with 200.
func (p *process) load(request []byte, connections int) load.Load {
	return load.Load{Address: p.address, Connections: connections, Status: http.StatusOK, Request: func(int) []byte {
		return request
	}}
}

func (p *process) postOf(path, body string) []byte {
	return fmt.Appendf(nil,
		"POST %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", path, p.address, p.key, len(body), body)
}

func (p *process) getOf(path string) []byte {
	return fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", path, p.address, p.key)
}

// makeOne has the service make a generation, for what reads one.
func (p *process) makeOne(edge int) error {
	text, err := p.post("application/json",
		strings.NewReader(fmt.Sprintf(`{"model":"%s","prompt":"%s","size":"%[3]dx%[3]d"}`, model, prompt, edge)))
	if err != nil {
		return err
	}
	var g struct {
		ID     string
		Images []struct{ URL string }
	}
	if err := json.Unmarshal(text, &g); err != nil || len(g.Images) == 0 {
		return fmt.Errorf("no image in %s", text)
	}
	p.known = "/api/v1/generations/" + g.ID
	u, err := url.Parse(g.Images[0].URL)
	if err != nil {
		return err
	}
	p.image = u.Path
	return nil
}

// post asks the service for a generation.
func (p *process) post(contentType string, body io.Reader) ([]byte, error) {
	r, err := http.NewRequest(http.MethodPost, "http://"+p.address+ourPost, body)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+p.key)
	r.Header.Set("Content-Type", contentType)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d: %s", answer.StatusCode, text)
	}
	return text, err
}
