import ControlAPI
import Foundation
import Glibc

/// The changes of one job as the daemon tells them, over a connection of the test's own.
struct JobEvents {
  /// The job after each change; ends with the job, or with the daemon.
  let jobs: AsyncStream<Job>

  init(of id: Int64, socket path: String) throws {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    let request = Array("GET \(Endpoint.jobEvents(id).path) HTTP/1.1\r\nHost: lade\r\n\r\n".utf8)
    guard try SocketPath.with(path, { connect(descriptor, $0, $1) }) == 0,
      send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count
    else {
      let code = errno
      close(descriptor)
      throw POSIXError(.init(rawValue: code) ?? .EIO)
    }
    let (jobs, continuation) = AsyncStream<Job>.makeStream()
    self.jobs = jobs
    continuation.onTermination = { _ in shutdown(descriptor, Int32(SHUT_RDWR)) }
    // A thread of its own, for reading blocks.
    Thread.detachNewThread {
      // HTTP's head and its chunk sizes are lines that an event stream has no meaning for, so they are passed over.
      var parser = ServerSentEventParser()
      var bytes = [UInt8](repeating: 0, count: 16_384)
      while true {
        let count = recv(descriptor, &bytes, bytes.count, 0)
        if count <= 0 { break }
        for event in parser.feed(bytes[..<count]) where event.name == "job" {
          do {
            continuation.yield(try WireFormat.decode(Job.self, from: Data(event.data.utf8)))
          } catch {
            print("an event that isn't a job: \(event.data): \(error)")
          }
        }
      }
      continuation.finish()
      close(descriptor)
    }
  }

  /// The job as soon as it has come so far; nil when it ended before, or the daemon did.
  func first(where condition: (Job) -> Bool) async -> Job? {
    for await job in jobs {
      if condition(job) { return job }
      if job.state.isEnded { return nil }
    }
    return nil
  }
}
