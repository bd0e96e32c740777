/*
 * A library for LD_PRELOAD that makes the disk and the clock of a process fail. test/helpers/faults/faults.ts
 * compiles it, and describes the control block, which the test changes while the process runs.
 *
 * FAULT_CONTROL  the file with the control block
 * FAULT_FOLDER   the folder whose files are affected
 * FAULT_JOURNAL  optional: a file that gets each write, and each sync, in their order
 */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* The same order as FIELDS in faults.ts. */
struct control {
  int64_t write_error;  /* errno of writes; ENOSPC only fails those that need more space */
  int64_t sync_error;   /* errno of fsync and fdatasync */
  int64_t open_error;   /* errno of opening a file for writing */
  int64_t read_error;   /* errno of reads */
  int64_t percent;      /* how many of these calls fail */
  int64_t clock_ms;     /* added to the time of day */
  int64_t statfs_type;  /* reported type of the file system, if not 0 */
  int64_t failed_calls; /* counts what failed */
};

enum { RECORD_WRITE = 1, RECORD_TRUNCATE, RECORD_SYNC_START, RECORD_SYNC_END, RECORD_SYNC_FAILED, RECORD_UNLINK };

struct record {
  uint32_t type;
  uint32_t path_length;
  uint64_t offset; /* of a write; the size of a truncated file; the number of a sync */
  uint64_t length; /* of the data that follows the path */
};

#define MAX_FILES 65536

static struct control none = {.percent = 100};
static struct control *control = &none;
static const char *folder;
static size_t folder_length;
static int journal = -1;
static char *paths[MAX_FILES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint64_t syncs;

#define REAL(type, name, ...) \
  static type (*real)(__VA_ARGS__); \
  if (!real) real = dlsym(RTLD_NEXT, #name)

static void initialize(void) {
  int (*open_file)(const char *, int, ...) = dlsym(RTLD_NEXT, "open");
  const char *file = getenv("FAULT_CONTROL");
  folder = getenv("FAULT_FOLDER");
  folder_length = folder ? strlen(folder) : 0;
  if (file) {
    int fd = open_file(file, O_RDWR);
    void *mapped = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof none, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (mapped != MAP_FAILED) control = mapped;
  }
  file = getenv("FAULT_JOURNAL");
  if (file) journal = open_file(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static int is_affected(const char *path) {
  pthread_once(&once, initialize);
  return folder && path && strncmp(path, folder, folder_length) == 0;
}

static const char *path_of(int fd) {
  return fd >= 0 && fd < MAX_FILES ? paths[fd] : NULL;
}

/* Whether this call fails, by chance if not all do. */
static int fails(int64_t error) {
  if (!error || (control->percent < 100 && random() % 100 >= control->percent)) return 0;
  __atomic_add_fetch(&control->failed_calls, 1, __ATOMIC_RELAXED);
  errno = (int)error;
  return 1;
}

/* The shared-memory index of SQLite is not written to disk, but rebuilt. */
static int is_recorded(const char *path) {
  size_t length = strlen(path);
  return journal >= 0 && (length < 4 || strcmp(path + length - 4, "-shm") != 0);
}

/* The caller holds the lock, so that the journal has the order of the calls. */
static void record(uint32_t type, const char *path, uint64_t offset, const void *data, uint64_t length) {
  ssize_t (*write_all)(int, const struct iovec *, int) = dlsym(RTLD_NEXT, "writev");
  struct record head = {type, (uint32_t)strlen(path), offset, length};
  struct iovec parts[] = {{&head, sizeof head}, {(void *)path, head.path_length}, {(void *)data, length}};
  if (is_recorded(path) && write_all(journal, parts, length ? 3 : 2) < 0) abort();
}

static int opened(int fd, const char *path, int flags) {
  if (fd < 0 || fd >= MAX_FILES) return fd;
  pthread_mutex_lock(&lock);
  free(paths[fd]);
  paths[fd] = is_affected(path) ? strdup(path) : NULL;
  if (paths[fd] && (flags & O_TRUNC)) record(RECORD_TRUNCATE, path, 0, NULL, 0);
  pthread_mutex_unlock(&lock);
  return fd;
}

static int may_not_open(const char *path, int flags) {
  return (flags & (O_WRONLY | O_RDWR | O_CREAT)) && is_affected(path) && fails(control->open_error);
}

#define OPEN(name) \
  int name(const char *path, int flags, ...) { \
    REAL(int, name, const char *, int, ...); \
    va_list arguments; \
    va_start(arguments, flags); \
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0; \
    va_end(arguments); \
    if (may_not_open(path, flags)) return -1; \
    return opened(real(path, flags, mode), path, flags); \
  }
OPEN(open)
OPEN(open64)

int close(int fd) {
  REAL(int, close, int);
  if (path_of(fd)) {
    pthread_mutex_lock(&lock);
    free(paths[fd]);
    paths[fd] = NULL;
    pthread_mutex_unlock(&lock);
  }
  return real(fd);
}

int unlink(const char *path) {
  REAL(int, unlink, const char *);
  if (!is_affected(path)) return real(path);
  if (fails(control->open_error)) return -1;
  pthread_mutex_lock(&lock);
  int result = real(path);
  if (result == 0) record(RECORD_UNLINK, path, 0, NULL, 0);
  pthread_mutex_unlock(&lock);
  return result;
}

static int may_not_write(int fd, uint64_t end) {
  if (control->write_error != ENOSPC) return fails(control->write_error);
  struct stat status;
  return fstat(fd, &status) == 0 && end > (uint64_t)status.st_size && fails(ENOSPC);
}

#define PWRITE(name, offset_type) \
  ssize_t name(int fd, const void *data, size_t length, offset_type offset) { \
    REAL(ssize_t, name, int, const void *, size_t, offset_type); \
    const char *path = path_of(fd); \
    if (!path) return real(fd, data, length, offset); \
    if (may_not_write(fd, (uint64_t)offset + length)) return -1; \
    pthread_mutex_lock(&lock); \
    ssize_t written = real(fd, data, length, offset); \
    if (written > 0) record(RECORD_WRITE, path, (uint64_t)offset, data, (uint64_t)written); \
    pthread_mutex_unlock(&lock); \
    return written; \
  }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

ssize_t write(int fd, const void *data, size_t length) {
  REAL(ssize_t, write, int, const void *, size_t);
  const char *path = path_of(fd);
  if (!path) return real(fd, data, length);
  off_t offset = lseek(fd, 0, SEEK_CUR);
  if (may_not_write(fd, (uint64_t)offset + length)) return -1;
  pthread_mutex_lock(&lock);
  ssize_t written = real(fd, data, length);
  if (written > 0) record(RECORD_WRITE, path, (uint64_t)offset, data, (uint64_t)written);
  pthread_mutex_unlock(&lock);
  return written;
}

#define TRUNCATE(name, offset_type) \
  int name(int fd, offset_type length) { \
    REAL(int, name, int, offset_type); \
    const char *path = path_of(fd); \
    if (!path) return real(fd, length); \
    if (may_not_write(fd, (uint64_t)length)) return -1; \
    pthread_mutex_lock(&lock); \
    int result = real(fd, length); \
    if (result == 0) record(RECORD_TRUNCATE, path, (uint64_t)length, NULL, 0); \
    pthread_mutex_unlock(&lock); \
    return result; \
  }
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

#define PREAD(name, offset_type) \
  ssize_t name(int fd, void *data, size_t length, offset_type offset) { \
    REAL(ssize_t, name, int, void *, size_t, offset_type); \
    if (path_of(fd) && fails(control->read_error)) return -1; \
    return real(fd, data, length, offset); \
  }
PREAD(pread, off_t)
PREAD(pread64, off64_t)

/* Only what was written before a sync started is on disk once it has ended. */
#define SYNC(name) \
  int name(int fd) { \
    REAL(int, name, int); \
    const char *path = path_of(fd); \
    if (!path) return real(fd); \
    pthread_mutex_lock(&lock); \
    uint64_t number = ++syncs; \
    record(RECORD_SYNC_START, path, number, NULL, 0); \
    pthread_mutex_unlock(&lock); \
    int result = fails(control->sync_error) ? -1 : real(fd); \
    int error = errno; \
    pthread_mutex_lock(&lock); \
    record(result == 0 ? RECORD_SYNC_END : RECORD_SYNC_FAILED, path, number, NULL, 0); \
    pthread_mutex_unlock(&lock); \
    errno = error; \
    return result; \
  }
SYNC(fsync)
SYNC(fdatasync)

#define STATFS(name, structure) \
  int name(const char *path, struct structure *status) { \
    REAL(int, name, const char *, struct structure *); \
    int result = real(path, status); \
    if (result == 0 && is_affected(path) && control->statfs_type) status->f_type = control->statfs_type; \
    return result; \
  }
STATFS(statfs, statfs)
STATFS(statfs64, statfs64)

int clock_gettime(clockid_t clock, struct timespec *time) {
  REAL(int, clock_gettime, clockid_t, struct timespec *);
  int result = real(clock, time);
  if (result == 0 && clock == CLOCK_REALTIME) {
    pthread_once(&once, initialize);
    time->tv_sec += control->clock_ms / 1000;
  }
  return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  REAL(int, gettimeofday, struct timeval *restrict, void *restrict);
  int result = real(time, zone);
  pthread_once(&once, initialize);
  time->tv_sec += control->clock_ms / 1000;
  return result;
}
