package storage_test
import ("testing";"time";"sync";"fmt";"os";"os/exec"
"github.com/imagegend/imagegend/imagegen"
"github.com/imagegend/imagegend/imagegen/storage")
func TestScale(t *testing.T) {
	dir := "/dev/shm/scale"; os.RemoveAll(dir); defer os.RemoveAll(dir)
	db, err := storage.Open(dir, nil); if err != nil { t.Fatal(err) }
	db.Grant(t.Context(), imagegen.Grant{User:"alice", Credits: 1<<40})
	N := 300000
	var wg sync.WaitGroup
	for w := range 256 { wg.Go(func(){ for n := w; n < N; n += 256 {
		r, err := db.CreateCharged(t.Context(), newRecord(n), time.Minute); if err != nil { t.Error(err); return }
		o := imagegen.Outcome{Failure: &imagegen.Failure{Class: imagegen.ClassRefused, Detail:"x"}, At: epoch}
		if _, err := db.FinishSettled(t.Context(), r.Fence(), o); err != nil { t.Error(err); return }
	}})}
	wg.Wait()
	fmt.Println(db.Close())
	out, _ := exec.Command("sh", "-c", "grep -H . /proc/locks; ls -li /dev/shm/scale; ls -l /proc/"+fmt.Sprint(os.Getpid())+"/fd; grep scale /proc/"+fmt.Sprint(os.Getpid())+"/maps; ls -l /proc/*/fd 2>/dev/null| grep -B100 scale").CombinedOutput()
	fmt.Println(string(out))
	db, err = storage.Open(dir, nil); fmt.Println(err)
	return
	rep, err := db.Audit(t.Context()); fmt.Println("audit", rep.Generations, rep.Entries, rep.Clean(), err)
	fmt.Println(db.Close())
	db, err = storage.Open(dir, nil); fmt.Println(err)
	fmt.Println(db.Close())
	os.WriteFile(dir+"/unclean", nil, 0o600)
	db, err = storage.Open(dir, nil); fmt.Println(err)
}
