import Foundation
import ManagedObjects
import Testing

/// The versions of the model of objc.io's book on Core Data, and rows for each of them.
enum MoodyWorld {
  static var folder: URL? {
    var package = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
    for _ in 0..<4 { package.deleteLastPathComponent() }
    let url = package.deletingLastPathComponent().appendingPathComponent(
      "shared/data/models/MoodyMigrations.xcdatamodeld")
    return FileManager.default.fileExists(atPath: url.path) ? url : nil
  }

  static func model(_ version: Int) throws -> ManagedObjectModel {
    let name = version == 1 ? "Moody.xcdatamodel" : "Moody \(version).xcdatamodel"
    return try ManagedObjectModel(contentsOf: #require(folder).appendingPathComponent(name))
  }

  private static let date = Date(timeIntervalSince1970: 1_448_000_000)
  /// Countries with their continents; Atlantis has none.
  private static let countries: [(code: Int64, continent: Int64?)] = [
    (250, 10002), (276, 10002), (392, 10001), (999, nil),
  ]

  /// Puts in two continents, four countries and eight moods, as far as the version knows them.
  static func fill(_ context: ManagedObjectContext, _ version: Int) throws {
    func add(_ entity: String, _ values: [String: Value]) throws -> ManagedObject {
      let object = try context.insert(entity)
      for (key, value) in values where object.entity.propertiesByName[key] != nil {
        try object.setValue(value, forKey: key)
      }
      return object
    }
    var continents: [Int64: Value] = [:]
    if context.model.entitiesByName["Continent"] != nil {
      for code: Int64 in [10001, 10002] {
        let continent = try add(
          "Continent",
          ["numericISO3166Code": .int(code), "updatedAt": .date(date), "numberOfCountries": .int(code % 2 + 1)])
        continents[code] = .object(continent.objectID)
      }
    }
    for (index, (code, continent)) in countries.enumerated() {
      let country = try add(
        "Country",
        [
          "numericISO3166Code": .int(code), "updatedAt": .date(date), "numberOfMoods": .int(2),
          "isoContinent": .int(continent ?? 0), "continent": continent.flatMap { continents[$0] } ?? .null,
        ])
      for part in 0..<2 {
        let number = index * 2 + part
        _ = try add(
          "Mood",
          [
            "date": .date(date.addingTimeInterval(Double(number))), "latitude": .double(Double(number) / 4),
            "creatorID": .string("c\(number)"), "colors": .data(Data([UInt8(number)])),
            "remoteIdentifier": .string("r\(number)"), "remoteID": .string("r\(number)"), "rating": .int(Int64(number)),
            "country": .object(country.objectID), "continent": continent.flatMap { continents[$0] } ?? .null,
          ])
      }
    }
  }

  /// Every mood, country and continent, as a text that says what all versions know.
  static func text(_ context: ManagedObjectContext) throws -> [String] {
    func words(_ object: ManagedObject, _ keys: [String]) -> String {
      let values = keys.compactMap { object.value(forKey: $0)?.plainText }
      return "\(object.entity.name) \(object.objectID.uriRepresentation.lastPathComponent) "
        + values.joined(separator: " ")
    }
    func code(_ object: ManagedObject, _ key: String) throws -> String {
      guard case .object(let id) = object.value(forKey: key) else { return "-" }
      return try context.existingObject(with: id).value(forKey: "numericISO3166Code")?.plainText ?? ""
    }
    let moods = try context.every("Mood").map { mood in
      try words(mood, ["date", "latitude", "creatorID", "colors", "remoteIdentifier", "remoteID"]) + " in "
        + code(mood, "country")
    }
    return try moods + context.every("Country").map { words($0, ["numericISO3166Code", "updatedAt", "numberOfMoods"]) }
  }

  /// The code of each country's continent, by the country's code, of those that have one.
  static func continents(_ context: ManagedObjectContext, _ entity: String = "Country") throws -> [String: String] {
    try context.every(entity).reduce(into: [:]) { found, object in
      guard case .object(let id) = object.value(forKey: "continent") else { return }
      let key = entity == "Country" ? "numericISO3166Code" : "creatorID"
      found[object.value(forKey: key)?.plainText ?? ""] =
        try context.existingObject(with: id).value(forKey: "numericISO3166Code")?.plainText
    }
  }

  /// What ``continents(_:_:)`` says of countries, before a version forgot it.
  static let allContinents = ["250": "10002", "276": "10002", "392": "10001"]
}
