import Foundation
import Glibc
import Testing

@testable import Systemd

@Suite("Sockets that are passed")
struct PassedSocketTests {
  /// A socket of a family that listens, or is only there. Its owner closes it.
  private func socket(_ family: Int32, _ name: String, listens: Bool = true) throws -> ActivatedSocket {
    let descriptor = Glibc.socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    try #require(descriptor >= 0)
    if listens {
      // Without a path the kernel chooses one that is no file's; without a port one that is free.
      var address = sockaddr_storage()
      address.ss_family = sa_family_t(family)
      let length = family == AF_UNIX ? MemoryLayout<sa_family_t>.size : MemoryLayout<sockaddr_in>.size
      let bound = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, socklen_t(length)) }
      }
      try #require(bound == 0 && listen(descriptor, 1) == 0)
    }
    return ActivatedSocket(descriptor: descriptor, name: name)
  }

  @Test("the control socket is known by its name, or by being the only one beside those for metrics")
  func control() throws {
    let (control, nameless) = (try socket(AF_UNIX, "control"), try socket(AF_UNIX, "laded.socket"))
    let metrics = try socket(AF_INET, "metrics")
    defer { for each in [control, nameless, metrics] { close(each.descriptor) } }
    #expect(try PassedSockets([]) == PassedSockets([]))
    #expect(try PassedSockets([]).control == nil)
    #expect(try PassedSockets([nameless, control]).control == control)
    #expect(try PassedSockets([nameless]).control == nameless)
    #expect(try PassedSockets([metrics, nameless]).control == nameless)
    #expect(try PassedSockets([metrics, nameless]).metrics == [metrics])
    let web = ActivatedSocket(descriptor: metrics.descriptor, name: "web")
    #expect(try PassedSockets([web, nameless]).control == nameless)
    #expect(try PassedSockets([web, nameless]).web == [web])
    let unix = ActivatedSocket(descriptor: control.descriptor, name: "web")
    #expect(try PassedSockets([unix, web, nameless]).web == [unix, web])
    let alone = try PassedSockets([metrics])
    #expect(alone.control == nil && alone.metrics == [metrics])
    #expect(throws: SystemdError.self) { try PassedSockets([nameless, try socket(AF_UNIX, "other")]) }
  }

  @Test("one that isn't what it is called is refused by name")
  func wrong() throws {
    for (family, name, listens) in [
      (AF_UNIX, "metrics", true), (AF_INET, "metrics", false), (AF_UNIX, "web", false), (AF_INET, "control", true),
      (AF_UNIX, "control", false),
      (AF_INET, "laded.socket", true),
    ] {
      let socket = try socket(family, name, listens: listens)
      defer { close(socket.descriptor) }
      let error = #expect(throws: SystemdError.self) { try PassedSockets([socket]) }
      #expect(error?.description.contains("“\(name)”") == true, "\(family) \(name) \(listens)")
    }
  }
}
