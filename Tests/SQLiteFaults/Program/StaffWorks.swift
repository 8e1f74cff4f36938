import Foundation
import GRDB
import Importing
import Jobs
import LadeTypes
import ManagedObjects

/// The store that imports work on: people, their bosses and their countries.
enum Staff {
  static func model() throws -> ManagedObjectModel {
    try ImportModel.adding(
      to: ManagedObjectModel(entities: [
        EntityDefinition(
          "Country", attributes: [AttributeDefinition("code", .string, isOptional: false)],
          relationships: [RelationshipDefinition("people", to: "Person", inverse: "country", isToMany: true)],
          uniquenessConstraints: [["code"]]),
        EntityDefinition(
          "Person",
          attributes: [
            AttributeDefinition("code", .string), AttributeDefinition("name", .string, isOptional: false),
            AttributeDefinition("age", .integer16, minimumValue: .int(0), maximumValue: .int(150)),
          ],
          relationships: [
            RelationshipDefinition(
              "country", to: "Country", inverse: "people",
              userInfo: ["mappedKeyName": "country_code", "relatedByAttribute": "code"]),
            RelationshipDefinition("boss", to: "Person", inverse: "staff", userInfo: ["relatedByAttribute": "code"]),
            RelationshipDefinition("staff", to: "Person", inverse: "boss", isToMany: true),
          ],
          uniquenessConstraints: [["code"]],
          indexes: [FetchIndexDefinition("byName", elements: [.init(property: "name")])]),
      ]))
  }

  /// Makes a store with two countries and people of whom a file has some.
  static func prepare(_ folder: URL, people: Int = 40) throws {
    try StoreSession.makeFolders(in: folder)
    let session = try StoreSession(folder, model())
    let context = ManagedObjectContext(.confinement, coordinator: session.coordinator)
    for code in ["DE", "FR"] { try context.insert("Country").setValue(.string(code), forKey: "code") }
    for number in 0..<people {
      let person = try context.insert("Person")
      try person.setValue(.string("p\(number * 3)"), forKey: "code")
      try person.setValue(.string("An earlier name of \(number)"), forKey: "name")
    }
    try context.save()
    try session.close()
  }

  /// Records of which some are wrong, some come twice, and some have bosses that come later or never.
  static func people(withBosses: Bool = true) -> String {
    var text = "code,name,age,country_code" + (withBosses ? ",boss\n" : "\n")
    for number in 0..<120 {
      let code = "p\(number % 30 == 29 ? number - 9 : number)"
      let age = number % 17 == 5 ? "x" : number % 23 == 7 ? "200" : "\(number % 90)"
      let country = ["DE", "FR", "XX", ""][number % 4]
      text += "\(code),Person number \(number) of the file,\(age),\(country)"
      if withBosses { text += number % 3 == 0 ? "," : ",p\((number * 7 + 20) % 130)" }
      text += "\n"
    }
    return text
  }

  /// What imports leave: rows by their keys, because another try gives other numbers, and rejects.
  static func contents(_ folder: URL) throws -> [String] {
    let contents = StoreContents(folder: folder)
    let rejects = try contents.files().filter { $0.hasPrefix("rejects/") }.map { path in
      let url = folder.appendingPathComponent(path)
      var isFolder: ObjCBool = false
      guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder), !isFolder.boolValue else {
        return path
      }
      return path + ":\n" + (try String(contentsOf: url, encoding: .utf8))
    }
    return try contents.rows(
      """
      SELECT p.code, p.name, p.age, c.code, b.code FROM Person p
      LEFT JOIN Country c ON c.id = p.country_id LEFT JOIN Person b ON b.id = p.boss_id
      """) + contents.rows("SELECT code FROM Country") + contents.counts() + rejects
  }
}

/// Imports a file by one mode.
struct ImportWork: Work {
  let name: String
  fileprivate let options: ImportOptions

  static let all: [any Work] =
    ImportMode.allCases.map { ImportWork(name: "import-\($0.rawValue)", options: options($0)) }
    + [
      ImportWork(name: "import-whole-file", options: options(.upsert) { $0.atomicity = .file }), IndexWork(),
      DatabaseWork(),
    ]

  fileprivate static func options(
    _ mode: ImportMode, _ change: (inout ImportOptions) -> Void = { _ in }
  ) -> ImportOptions {
    var options = ImportOptions(mode: mode, batchSize: 50)
    change(&options)
    return options
  }

  func prepare(_ folder: URL) throws {
    try Staff.prepare(folder)
    try Data(Staff.people().utf8).write(to: folder.appendingPathComponent("active/people.csv"))
  }

  func begin(_ folder: URL) throws -> any WorkSession {
    ImportSession(
      store: try StoreSession(folder, Staff.model()), options: options, source: "people.csv", entity: "Person")
  }

  func contents(_ folder: URL) throws -> [String] { try Staff.contents(folder) }
}

/// Imports an archive with a file for each entity.
struct FeedWork: Work {
  let name = "import-feed"

  func prepare(_ folder: URL) throws {
    try Staff.prepare(folder)
    let archive = TarArchive([("Person.csv", Staff.people()), ("Country.csv", "code\nXX\nDE\nIT\n")])
    try archive.data.write(to: folder.appendingPathComponent("active/staff.tar"))
  }

  func begin(_ folder: URL) throws -> any WorkSession {
    ImportSession(
      store: try StoreSession(folder, Staff.model()), options: ImportOptions(batchSize: 50), source: "staff.tar",
      entity: ImportRequest.feed)
  }

  func contents(_ folder: URL) throws -> [String] { try Staff.contents(folder) }
}

private struct ImportSession: WorkSession {
  let store: StoreSession
  let options: ImportOptions
  let source: String
  let entity: String

  func work() throws -> String {
    let json = String(decoding: try JSONEncoder().encode(options), as: UTF8.self)
    let end = try store.run(ImportOperation.self, options: json) { job in
      job.entity = entity
      job.source = source
      job.activeName = source
    }
    return
      "\(end.records) records, \(end.inserted) inserted, \(end.updated) updated, \(end.unchanged) unchanged, "
      + "\(end.deleted) deleted, \(end.rejected) rejected"
  }

  func close() throws { try store.close() }
}

/// Imports a file that counts as a large one, so that indexes are dropped and made again.
private struct IndexWork: Work {
  let name = "import-without-indexes"

  func prepare(_ folder: URL) throws {
    try StoreSession.makeFolders(in: folder)
    try StoreSession(folder, Staff.model()).close()
    // A boss would be looked for while the file is read, by an index.
    try Data(Staff.people(withBosses: false).utf8).write(to: folder.appendingPathComponent("active/people.csv"))
  }

  func begin(_ folder: URL) throws -> any WorkSession {
    Session(store: try StoreSession(folder, Staff.model()))
  }

  func contents(_ folder: URL) throws -> [String] { try Staff.contents(folder) }

  private struct Session: WorkSession {
    let store: StoreSession

    func work() throws -> String {
      let options = ImportOptions(mode: .insert, batchSize: 50)
      let request = ImportRequest(
        job: "test/7", source: store.folder.appendingPathComponent("active/people.csv"), name: "people.csv",
        entity: "Person", options: options, rejects: store.folder.appendingPathComponent("rejects/7.csv"))
      let context = ManagedObjectContext(.confinement, coordinator: store.coordinator, name: "import")
      do {
        let end = try Importer(coordinator: store.coordinator, request: request, largeLoad: 10).run(
          in: context, shouldStop: { false }, report: { _ in })
        return "\(end.progress.counts)"
      } catch {
        throw JobFailure(error)
      }
    }

    func close() throws { try store.close() }
  }
}

/// Imports a database, whose text SQLite has to convert.
private struct DatabaseWork: Work {
  let name = "import-database"

  func prepare(_ folder: URL) throws {
    try Staff.prepare(folder)
    let source = try DatabaseQueue(path: folder.appendingPathComponent("active/people.sqlite").path)
    try source.writeWithoutTransaction { db in
      try db.execute(
        sql:
          "PRAGMA encoding = 'UTF-16'; CREATE TABLE people (code TEXT, name TEXT, age TEXT, country_code TEXT, boss TEXT)"
      )
      try db.inTransaction {
        for line in Staff.people().split(separator: "\n").dropFirst() {
          let fields = line.split(separator: ",", omittingEmptySubsequences: false).map {
            $0.isEmpty ? nil : String($0)
          }
          try db.execute(sql: "INSERT INTO people VALUES (?, ?, ?, ?, ?)", arguments: StatementArguments(fields))
        }
        return .commit
      }
    }
    try source.close()
  }

  func begin(_ folder: URL) throws -> any WorkSession {
    ImportSession(
      store: try StoreSession(folder, Staff.model()), options: ImportWork.options(.upsert), source: "people.sqlite",
      entity: "Person")
  }

  func contents(_ folder: URL) throws -> [String] { try Staff.contents(folder) }
}

/// An archive of plain files: https://www.gnu.org/software/tar/manual/html_node/Standard.html.
private struct TarArchive {
  let data: Data

  init(_ files: [(name: String, text: String)]) {
    var bytes: [UInt8] = []
    for (name, text) in files {
      var header = [UInt8](repeating: 0, count: 512)
      func put(_ text: String, at place: Int) {
        header.replaceSubrange(place..<place + text.utf8.count, with: text.utf8)
      }
      func octal(_ number: Int) -> String {
        let digits = String(number, radix: 8)
        return String(repeating: "0", count: 11 - digits.count) + digits
      }
      put(name, at: 0)
      put("0000644", at: 100)
      put(octal(text.utf8.count), at: 124)
      put(octal(1), at: 136)
      put("        0", at: 148)
      put("ustar\u{0}00", at: 257)
      let sum = header.reduce(0) { $0 + Int($1) }
      put(String(octal(sum).suffix(6)) + "\u{0} ", at: 148)
      bytes += header + Array(text.utf8)
      bytes += [UInt8](repeating: 0, count: (512 - text.utf8.count % 512) % 512)
    }
    data = Data(bytes + [UInt8](repeating: 0, count: 1024))
  }
}
