import Foundation
import LadeTypes

/// A queue in PostgreSQL, on which several daemons may work: the section `queue` of a configuration.
package struct QueueConfiguration: Sendable, Equatable {
  package var place: PostgresPlace
  /// What others know this host by: jobs with files belong to it.
  package var host: String
  /// How long after its last sign of life a daemon counts as gone.
  package var lease = Duration.seconds(30)
  /// How long a file may be, in bytes, whose bytes go to the database, so that every host may have it; nil for none.
  package var fileLimit: Int64?
  /// A folder that several hosts see, in place of `incoming/` in the spool: their daemons take files from it together.
  package var incoming: String?

  package init(place: PostgresPlace, host: String = Self.hostName) {
    self.place = place
    self.host = host
  }

  /// The system's name for this host.
  package static var hostName: String { ProcessInfo.processInfo.hostName }
}

extension QueueConfiguration {
  enum Key: String, CaseIterable {
    case postgres, direct, schema, credential, host, lease, incoming
    case fileLimit = "file_limit"
  }

  private static let longestFile = 1_000_000_000

  private static let longestHost = 255

  /// Nil with a problem reported.
  init?(_ value: YAMLValue, in folder: ConfigurationFolder) {
    guard let section = YAMLSection<Key>(value) else { return nil }
    let connection = section.required(.postgres, "a connection string such as service=lade")?.connectionString()
    var credential: String?
    if let value = section[.credential] { credential = value.credentialName() }
    let direct = section[.direct]?.connectionString()
    let schema = section[.schema] == nil ? "lade_" + value.key : section[.schema]?.schemaName()
    guard let connection, let schema, section.isWithoutProblems else { return nil }
    self.init(place: PostgresPlace(connection: connection, credential: credential, direct: direct, schema: schema))
    if let value = section[.host], let name = value.text() {
      if name.isEmpty || name.utf8.count > Self.longestHost {
        value.wrong("a host's name has from 1 to \(Self.longestHost) bytes")
      }
      host = name
    }
    if let lease = section[.lease]?.duration(.seconds(3) ... .seconds(3600)) { self.lease = lease }
    incoming = section[.incoming]?.path(in: folder)
    fileLimit = section[.fileLimit]?.byteCount(upTo: Self.longestFile).map { Int64($0) }
  }
}

extension YAMLValue {
  /// A number of bytes with its unit, of 1000 bytes or a power of that; nil with a problem reported.
  fileprivate func byteCount(upTo most: Int) -> Int? {
    guard let text = scalar("a size such as 16MB") else { return nil }
    let units = [("kB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000)]
    guard let (unit, factor) = units.first(where: { text.hasSuffix($0.0) }),
      let number = Int(text.dropLast(unit.count)), number > 0
    else {
      wrong("write a number and its unit (kB, MB, GB), such as 16MB")
      return nil
    }
    let (bytes, overflow) = number.multipliedReportingOverflow(by: factor)
    guard !overflow, bytes <= most else {
      wrong("it is at most \(Quantity.bytes(Double(most)))")
      return nil
    }
    return bytes
  }
}
