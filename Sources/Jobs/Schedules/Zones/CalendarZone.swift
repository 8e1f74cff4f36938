import Foundation
import ManagedObjects

/// A time zone of the system, by its name in the IANA's database.
package struct CalendarZone: Sendable, Equatable {
  /// Where Linux keeps them.
  private static let folder = "/usr/share/zoneinfo"
  /// The largest file of the database has some 4 kB.
  private static let longestFile = 1 << 20

  /// UTC, which is there on every machine.
  package static let utc = CalendarZone(name: "UTC", rules: .utc)

  /// Such as `Europe/Berlin`.
  package let name: String
  let rules: ZoneRules

  private init(name: String, rules: ZoneRules) {
    self.name = name
    self.rules = rules
  }

  /// The zone of that name.
  /// - Throws: ``CalendarZoneError``.
  package init(named name: String) throws(CalendarZoneError) {
    if name.uppercased() == "UTC" {
      self = .utc
      return
    }
    // Nothing that leads out of the folder, or into the copies of all zones that are in it.
    let parts = name.split(separator: "/", omittingEmptySubsequences: false)
    let isName = parts.allSatisfy { part in
      part.first?.isLetter == true && part.utf8.allSatisfy { CalendarZone.isOfName($0) }
    }
    guard isName, name.utf8.count <= 100, !["posix", "right"].contains(parts[0]),
      let rules = CalendarZone.rules(at: CalendarZone.folder + "/" + name)
    else {
      let known = CalendarZone.knownNames()
      throw CalendarZoneError(
        name: name,
        nearest: known.first { $0.lowercased().hasSuffix("/" + name.lowercased()) }
          ?? NearestName.of(name, among: known), isDatabaseThere: !known.isEmpty)
    }
    self.init(name: name, rules: rules)
  }

  /// The zone of the machine, or of the variable TZ: UTC if neither says one.
  package static func system() -> CalendarZone {
    if let text = ProcessInfo.processInfo.environment["TZ"] {
      let name = text.hasPrefix(":") ? String(text.dropFirst()) : text
      if let zone = known(name) { return zone }
      return .utc
    }
    let file = "/etc/localtime"
    let target = URL(fileURLWithPath: file).resolvingSymlinksInPath().path
    if target.hasPrefix(folder + "/"), let zone = known(String(target.dropFirst(folder.count + 1))) { return zone }
    return rules(at: file).map { CalendarZone(name: "localtime", rules: $0) } ?? .utc
  }

  private static func known(_ name: String) -> CalendarZone? {
    do throws(CalendarZoneError) {
      return try CalendarZone(named: name)
    } catch {
      // It isn't in the database, and what it would mean elsewhere isn't guessed.
      return nil
    }
  }

  private static func isOfName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "+"):
      return true
    default: return false
    }
  }

  private static func rules(at path: String) -> ZoneRules? {
    guard let file = FileHandle(forReadingAtPath: path) else { return nil }
    defer { file.closeFile() }
    do {
      return try file.read(upToCount: longestFile).flatMap { ZoneRules(file: Array($0)) }
    } catch {
      // A folder, such as Europe.
      return nil
    }
  }

  /// The names that are in the database's table of places, for a suggestion.
  private static func knownNames() -> [String] {
    guard let data = FileManager.default.contents(atPath: folder + "/tzdata.zi") else { return [] }
    // `Z Europe/Berlin …` begins a zone, `L Europe/Berlin Arctic/Longyearbyen` is another name of it.
    return String(decoding: data, as: UTF8.self).split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ")
      switch words.first {
      case "Z": return words.count > 1 ? String(words[1]) : nil
      case "L": return words.count > 2 ? String(words[2]) : nil
      default: return nil
      }
    }
  }
}

/// A name that isn't that of a zone on this machine.
package struct CalendarZoneError: Error, Sendable, Equatable, CustomStringConvertible {
  /// What was asked for.
  package let name: String
  /// What was probably meant.
  package let nearest: String?
  let isDatabaseThere: Bool

  package var description: String {
    let what = "there is no time zone “\(name.prefix(80))”"
    if let nearest { return what + "; did you mean \(nearest)?" }
    return isDatabaseThere
      ? what + ": write UTC, or a name such as Europe/Berlin"
      : what + ": this machine has only UTC, until its package tzdata is installed"
  }
}
