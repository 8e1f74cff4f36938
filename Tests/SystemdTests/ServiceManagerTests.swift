import Foundation
import Glibc
import Testing

@testable import Systemd

/// Each in a process of its own, for the environment is everybody's.
@Suite("The service manager")
struct ServiceManagerTests {
  @Test("gets all notifications, one message per call")
  func notices() async {
    await #expect(processExitsWith: .success) {
      let socket = try NotifySocket()
      setenv("NOTIFY_SOCKET", socket.path, 1)
      #expect(try ServiceManager.notify(.ready, .status("2 lanes, 0 jobs")))
      #expect(try socket.receive() == ["READY=1", "STATUS=2 lanes, 0 jobs"])
      #expect(try ServiceManager.notify(.stopping))
      #expect(try socket.receive() == ["STOPPING=1"])
      #expect(try ServiceManager.notify(.watchdog))
      #expect(try socket.receive() == ["WATCHDOG=1"])
      #expect(try ServiceManager.notify(.extendTimeout(.milliseconds(1500))))
      #expect(try socket.receive() == ["EXTEND_TIMEOUT_USEC=1500000"])
      let before = DispatchTime.now().uptimeNanoseconds / 1000
      #expect(try ServiceManager.notify(.reloading))
      let lines = try socket.receive()
      #expect(lines.first == "RELOADING=1")
      let stamp = lines.last?.split(separator: "=").last.flatMap { UInt64($0) } ?? 0
      #expect(stamp >= before)
      try socket.remove()
    }
  }

  @Test("gets no assignment that hides in a status")
  func injection() async {
    await #expect(processExitsWith: .success) {
      let socket = try NotifySocket()
      setenv("NOTIFY_SOCKET", socket.path, 1)
      try ServiceManager.notify(.status("importing a\nSTOPPING=1\r\nMAINPID=1\0x"))
      #expect(try socket.receive() == ["STATUS=importing a STOPPING=1 MAINPID=1 x"])
      try socket.remove()
    }
  }

  @Test("isn't missed where there is none")
  func none() async {
    await #expect(processExitsWith: .success) {
      unsetenv("NOTIFY_SOCKET")
      unsetenv("WATCHDOG_USEC")
      unsetenv("LISTEN_FDS")
      let isThere = try ServiceManager.notify(.ready)
      #expect(!isThere)
      #expect(try ServiceManager.watchdogInterval() == nil)
      #expect(try ServiceManager.listenFileDescriptors() == [])
    }
  }

  @Test("that can't be reached is an error")
  func unreachable() async {
    await #expect(processExitsWith: .success) {
      setenv("NOTIFY_SOCKET", "/nowhere/at/all", 1)
      #expect(throws: SystemdError.notify(code: ENOENT)) { try ServiceManager.notify(.ready) }
    }
  }

  @Test("says how often it wants to hear the watchdog")
  func watchdog() async {
    await #expect(processExitsWith: .success) {
      setenv("WATCHDOG_USEC", "30000000", 1)
      setenv("WATCHDOG_PID", String(getpid()), 1)
      let interval = try ServiceManager.watchdogInterval()
      #expect(interval == .seconds(30))
      setenv("WATCHDOG_PID", String(getpid() + 1), 1)
      #expect(try ServiceManager.watchdogInterval() == nil)
      unsetenv("WATCHDOG_PID")
      setenv("WATCHDOG_USEC", "soon", 1)
      #expect(throws: SystemdError.watchdog(code: EINVAL)) { try ServiceManager.watchdogInterval() }
    }
  }

  @Test("passes sockets on by name, and another process's are not ours")
  func activation() async {
    await #expect(processExitsWith: .success) {
      setenv("LISTEN_FDS", "2", 1)
      setenv("LISTEN_FDNAMES", "control:web", 1)
      setenv("LISTEN_PID", String(getpid()), 1)
      // The first two descriptors after stderr must be open; what they are doesn't matter. Another thread may own one of
      // them and close it at any moment, so fill the gap and ask again.
      var sockets: [ActivatedSocket] = []
      while sockets.isEmpty {
        while fcntl(3, F_GETFD) < 0 || fcntl(4, F_GETFD) < 0 {
          guard open("/dev/null", O_RDONLY) >= 0 else { break }
        }
        do {
          sockets = try ServiceManager.listenFileDescriptors()
        } catch SystemdError.listen(code: EBADF) {
          continue
        }
      }
      #expect(
        sockets == [
          ActivatedSocket(descriptor: 3, name: "control"), ActivatedSocket(descriptor: 4, name: "web"),
        ])
      #expect(fcntl(3, F_GETFD) & FD_CLOEXEC != 0)
      setenv("LISTEN_PID", String(getpid() + 1), 1)
      #expect(try ServiceManager.listenFileDescriptors() == [])
    }
  }
}
