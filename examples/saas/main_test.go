package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"io"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/postgres"
	"github.com/imagegend/imagegend/imagegen/storage/postgres/postgrestest"
	"github.com/imagegend/imagegend/imagegen/storage/storagetest"
)

// TestMain is the program itself where a test asks for that.
func TestMain(m *testing.M) {
	if url := os.Getenv("SAAS_DATABASE"); url != "" {
		go func() { // ends with the test that has started it
			_, _ = io.Copy(io.Discard, os.Stdin)
			os.Exit(1)
		}()
		if err := run(context.Background(), os.Args[1], url, "127.0.0.1:0", os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// process is one of the program's.
type process struct {
	*exec.Cmd
	said string // its first line
}

func start(t *testing.T, mode, database string) *process {
	t.Helper()
	is := is.New(t)
	p := &process{Cmd: exec.Command(os.Args[0], mode)}
	p.Env, p.Stderr = append(os.Environ(), "SAAS_DATABASE="+database), os.Stderr
	_, err := p.StdinPipe()
	is.NoErr(err)
	out, err := p.StdoutPipe()
	is.NoErr(err)
	is.NoErr(p.Start())
	p.said, err = bufio.NewReader(out).ReadString('\n')
	is.NoErr(err)
	p.said = strings.TrimSpace(p.said)
	return p
}

func (p *process) kill() {
	_ = p.Process.Kill()
	_ = p.Wait()
}

// post orders, and returns the path of the order.
func post(to string, form url.Values) (status int, path string, err error) {
	r, err := http.PostForm(to, form)
	return read(r, err)
}

func read(r *http.Response, err error) (int, string, error) {
	if err != nil {
		return 0, "", err
	}
	defer r.Body.Close()
	said, err := io.ReadAll(r.Body)
	return r.StatusCode, string(said), err
}

// Who orders pays and gets a picture; who orders again with the same key gets the same order; who cannot pay gets none.
func TestShop(t *testing.T) {
	database := postgrestest.Start(t).Database(t)
	is := is.New(t)
	web, worker := start(t, "web", database), start(t, "worker", database)
	defer web.kill()
	defer worker.kill()
	mug := url.Values{"item": {"mug"}, "prompt": {"a fox"}, "order_key": {"1"}}
	status, path, err := post(web.said, mug)
	is.NoErr(err)
	is.Equal(status, http.StatusOK)
	_, again, err := post(web.said, mug)
	is.NoErr(err)
	is.Equal(again, path)
	status, body, err := read(http.Get(strings.TrimSuffix(web.said, "/orders") + strings.TrimSpace(path)))
	is.NoErr(err)
	is.Equal(status, http.StatusOK)
	picture, err := png.DecodeConfig(strings.NewReader(body))
	is.NoErr(err)
	is.Equal(picture.Width, 256)
	mug.Set("prompt", "a bear")
	status, _, err = post(web.said, mug)
	is.NoErr(err)
	is.Equal(status, http.StatusConflict)
	for n := range 10 {
		mug.Set("order_key", fmt.Sprint("more-", n))
		status, _, err = post(web.said, mug)
		is.NoErr(err)
	}
	is.Equal(status, http.StatusPaymentRequired)
	http.DefaultClient.CloseIdleConnections()
}

// A thousand orders at three web processes, which are killed again and again, leave the shop's table, the books, the
// queue, the feed and the files as if each had been taken whole or not at all.
func TestKilledWebProcesses(t *testing.T) {
	const orders, atOnce, kills = 1000, 9, 12
	database := postgrestest.Start(t).Database(t)
	is := is.New(t)
	feed := followFeed(t, database)
	var webs [3]atomic.Pointer[process]
	for i := range webs {
		webs[i].Store(start(t, "web", database))
	}
	worker := start(t, "worker", database)
	defer worker.kill()
	var photo bytes.Buffer
	is.NoErr(png.Encode(&photo, image.NewGray(image.Rect(0, 0, 16, 16))))
	var begun, taken, lost atomic.Int64
	due := make(chan bool, kills)
	var all sync.WaitGroup
	for range atOnce {
		all.Go(func() {
			for n := begun.Add(1); n <= orders; n = begun.Add(1) {
				if n%(orders/kills) == 0 {
					due <- true
				}
				body, contentType := form(map[string]string{"item": "mug", "prompt": "a fox",
					"order_key": fmt.Sprint(n),
					"customer":  fmt.Sprint("customer ", n%200)}, photo.Bytes())
				status, _, err := read(http.Post(webs[rand.IntN(len(webs))].Load().said, contentType, body))
				switch {
				case err != nil:
					lost.Add(1)
				case status == http.StatusOK:
					taken.Add(1)
				default:
					t.Errorf("the answer is %d", status)
				}
			}
		})
	}
	for range kills {
		<-due
		i := rand.IntN(len(webs))
		webs[i].Load().kill()
		webs[i].Store(start(t, "web", database))
	}
	all.Wait()
	checkShop(t, database, webs[0].Load().said, int(taken.Load()), int(lost.Load()))
	for i := range webs {
		webs[i].Load().kill()
	}
	feed.compare(orders)
	http.DefaultClient.CloseIdleConnections()
}

// form is one with a file.
func form(fields map[string]string, photo []byte) (io.Reader, string) {
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for name, value := range fields {
		_ = w.WriteField(name, value)
	}
	part, _ := w.CreateFormFile("photo", "photo.png")
	_, _ = part.Write(photo)
	_ = w.Close()
	return &body, w.FormDataContentType()
}

// checkShop fetches the pictures of all orders, and compares everything.
func checkShop(t *testing.T, database, web string, taken, lost int) {
	t.Helper()
	is, ctx := is.New(t), t.Context()
	pool, err := pgxpool.New(ctx, database)
	is.NoErr(err)
	defer pool.Close()
	count := func(sql string) (n int) {
		is.NoErr(pool.QueryRow(ctx, sql).Scan(&n))
		return n
	}
	ordered := count(`select count(*) from shop.orders`)
	var all []int
	is.NoErr(pool.QueryRow(ctx, `select array_agg(id) from shop.orders`).Scan(&all))
	for _, id := range all {
		status, _, err := read(http.Get(fmt.Sprint(web, "/", id)))
		is.NoErr(err)
		is.Equal(status, http.StatusOK)
	}
	t.Logf("%d orders taken, %d calls without an answer, %d orders in all", taken, lost, ordered)
	is.True(lost > 0 && ordered >= taken && ordered <= taken+lost)
	is.Equal(count(`select count(*) from images.generations g join shop.orders o on o.generation = g.id and g.usr = o.customer
 where g.state = 'succeeded'`), ordered)
	is.Equal(count(`select count(*) from images.generations`), ordered)
	is.Equal(count(`select coalesce(sum(granted - available), 0) from images.accounts`), ordered)
	is.Equal(count(`select count(*) from images.waiting`), 0)
	files := &files{pool}
	db, err := postgres.Open(ctx, postgres.Config{Pool: pool, Schema: "images", Images: files})
	is.NoErr(err)
	defer db.Close()
	report, err := db.Audit(ctx)
	is.NoErr(err)
	is.Equal(len(report.Violations), 0)
	is.NoErr(files.sweep(ctx, db, 0)) // what killed processes have left
	is.Equal(count(`select count(*) from shop.files where name not like '%/%'`), 0)
}

// The shop's files keep what is promised of images and reference images.
func TestFiles(t *testing.T) {
	s := postgrestest.Start(t)
	open := func(t *testing.T) *files {
		pool, err := openPool(t.Context(), s.Database(t))
		is.New(t).NoErr(err)
		t.Cleanup(pool.Close)
		return &files{pool}
	}
	storagetest.Images(t, func(t *testing.T) imagegen.ImageStore { return open(t) })
	storagetest.Spool(t, func(t *testing.T) imagegen.Spool { return open(t) })
}
