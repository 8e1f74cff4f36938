import Logging
import Systemd

/// Writes entries to systemd's journal, with fields by which they are found: `journalctl -u laded JOB_ID=12`. laded(8) lists
/// them.
struct JournalLogHandler: LogHandler {
  /// For entries that the journal refuses: the service manager forwards stderr to it, too.
  private let otherwise: TextLogHandler
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.trace

  init(label: String) { otherwise = TextLogHandler(label: label) }

  subscript(metadataKey key: String) -> Logger.MetadataValue? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: Logging.LogEvent) {
    let line = LogText(event, over: metadata)
    do {
      try JournalWriter.send(
        message: line.text, priority: JournalWriter.Priority(event.level),
        fields: JournalField.fields(of: line.metadata))
    } catch {
      otherwise.write(line.text, of: event)
    }
  }
}

extension JournalWriter.Priority {
  /// syslog(3) has no `trace`, and reserves `alert` and `emergency` for more than the trouble of one service.
  init(_ level: Logger.Level) {
    switch level {
    case .trace, .debug: self = .debug
    case .info: self = .info
    case .notice: self = .notice
    case .warning: self = .warning
    case .error: self = .error
    case .critical: self = .critical
    }
  }
}

/// The journal's fields, by what the daemon logs with a line.
enum JournalField {
  /// Those that have a name of their own; any other is called as it is, in upper case.
  private static let names = [
    "job": "JOB_ID", "kind": "JOB_KIND", "state": "JOB_STATE", "code": "FAILURE_CODE", "entry": "SPOOL_ENTRY",
    "event": "LADE_EVENT",
  ]
  /// The journal's and syslog's own, which mean something else.
  private static let taken: Set<String> = [
    "MESSAGE", "MESSAGE_ID", "PRIORITY", "ERRNO", "UNIT", "USER_UNIT", "DOCUMENTATION", "TID", "INVOCATION_ID",
  ]
  private static let takenPrefixes = ["SYSLOG_", "CODE_", "COREDUMP_", "OBJECT_"]
  /// The longest name of a field.
  private static let longest = 64

  /// The fields of one entry, the catalogue's number among them where the line is of an event that is in it.
  static func fields(of metadata: [String: String]) -> [String: String] {
    var fields: [String: String] = [:]
    for (key, value) in metadata { if let name = name(of: key) { fields[name] = value } }
    if let event = metadata[JournalMessage.key].flatMap(JournalMessage.init) { fields["MESSAGE_ID"] = event.identifier }
    return fields
  }

  /// nil for what can't be a field's name.
  static func name(of key: String) -> String? {
    if let name = names[key] { return name }
    let letters = key.uppercased().utf8.map { byte in
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): byte
      default: UInt8(ascii: "_")
      }
    }
    let text = String(decoding: letters.drop { $0 == UInt8(ascii: "_") }, as: UTF8.self)
    guard let first = text.utf8.first else { return nil }
    let isOwn = taken.contains(text) || takenPrefixes.contains { text.hasPrefix($0) }
    let name = isOwn || first < UInt8(ascii: "A") ? "LADE_" + text : text
    return name.utf8.count <= longest ? name : nil
  }
}
