package import ControlServer

/// Metrics, health and readiness on TCP: the section `metrics` of a configuration.
package struct MetricsConfiguration: Sendable, Equatable {
  /// Where the daemon listens; nil for nowhere, unless the service manager does.
  package var address: LoopbackAddress?
  /// What every request there has to bring; nil for nothing.
  package var token: AccessToken?

  package init() {}
}

extension MetricsConfiguration {
  enum Key: String, CaseIterable {
    case address, token
  }

  /// Nil with a problem reported.
  init?(_ value: YAMLValue) {
    guard let section = YAMLSection<Key>(value) else { return nil }
    self.init()
    address = section[.address]?.loopbackAddress(example: 9464)
    token = section[.token]?.secret().map { AccessToken($0) }
  }
}

extension YAMLValue {
  /// - Parameter example: a port that the message about a mistake names.
  func loopbackAddress(example port: Int) -> LoopbackAddress? {
    guard let text = text() else { return nil }
    do throws(LoopbackAddress.Mistake) {
      return try LoopbackAddress(text)
    } catch {
      switch error {
      case .form: wrong("write it as host:port, such as 127.0.0.1:\(port) or “[::1]:\(port)” in quotes")
      case .notLoopback:
        wrong(
          "other machines could connect, and nothing there is encrypted: use 127.0.0.1, “[::1]” or localhost, and have a "
            + "proxy before it that is")
      }
      return nil
    }
  }
}
