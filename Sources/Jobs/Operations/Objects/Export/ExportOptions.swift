package import CoreDataStores
package import Importing
import ManagedObjects

/// The options of a submission of kind `export`. All are optional.
package struct ExportOptions: OperationOptions, Equatable {
  /// How dates are written.
  package enum Dates: String, Codable, Sendable, CaseIterable {
    /// As the model says that they are read: by `dateFormat` in the attribute's user info, otherwise by ISO 8601.
    case model
    /// By ISO 8601, in UTC.
    case iso
  }

  /// What can be written.
  package enum Format: String, Codable, Sendable, CaseIterable {
    case csv, json, ndjson, sqlite, parquet, xlsx
    /// All objects of the store, as a store of Core Data's.
    case coreData = "core-data"

    /// The format of records; nil for a whole store.
    var written: WrittenFormat? { WrittenFormat(rawValue: rawValue) }
    /// Whether a column may hold objects, or keys without a separator.
    var nests: Bool { written?.nests == true }
    /// Whether values that are JSON are kept as such.
    var keepsJSON: Bool { written?.keepsJSON == true }
  }

  /// `csv`, `json` (an array), `ndjson`, `sqlite`, `parquet`, `xlsx` or `core-data`; `csv` if it isn't said.
  package var format = Format.csv
  /// The file's name in the folder of exports; one that is there is replaced. If it isn't said: entity, job and format.
  package var file: String?
  /// Which objects, in the predicate language; all if it isn't said.
  package var predicate: String?
  /// Key paths to sort by, `-` before those whose greatest comes first; the objects' own order if it isn't said.
  package var sort: ListOption = []
  /// The columns: attributes, key paths over to-one relationships, relationships (the keys of what they lead to),
  /// `relationship.@count`, and in JSON and Parquet `relationship.attribute` of to-many ones. If it isn't said: what an import takes.
  package var columns: ListOption?
  /// How many objects at most; 0 for all.
  package var limit = 0
  /// `gzip` or `zstd`; not packed if it isn't said. Of a Parquet file, its pages are: by Snappy if it isn't said.
  package var compression: WrittenCompression?
  /// Whether objects of entities that inherit from the entity are among them.
  package var subentities = true
  /// CSV: what stands between two fields, one character or `tab`.
  package var delimiter = ","
  package var dates = Dates.model
  /// `core-data`: what the new store takes over from the app's, as `ladectl export` reads it.
  package var template: CoreDataTemplate?

  package static func == (a: ExportOptions, b: ExportOptions) -> Bool {
    a.format == b.format && a.file == b.file && a.predicate == b.predicate && a.sort == b.sort && a.columns == b.columns
      && a.limit == b.limit && a.compression == b.compression && a.subentities == b.subentities
      && a.delimiter == b.delimiter && a.dates == b.dates && a.template?.metadata == b.template?.metadata
  }

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case format, file, predicate = "where", sort, columns, limit, compression, subentities, delimiter, dates, template
  }

  package init() {}

  package init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self.init()
    format = try values.word(Format.self, .format) ?? format
    file = try values.decodeIfPresent(String.self, forKey: .file)
    predicate = try values.decodeIfPresent(String.self, forKey: .predicate)
    sort = try values.decodeIfPresent(ListOption.self, forKey: .sort) ?? sort
    columns = try values.decodeIfPresent(ListOption.self, forKey: .columns)
    limit = try values.number(.limit, 0...Int.max) ?? limit
    compression = try values.word(WrittenCompression.self, .compression)
    subentities = try values.flag(.subentities) ?? subentities
    delimiter = try values.decodeIfPresent(String.self, forKey: .delimiter) ?? delimiter
    dates = try values.word(Dates.self, .dates) ?? dates
    template = try values.decodeIfPresent(CoreDataTemplate.self, forKey: .template)
    if format == .coreData {
      if let key = values.allKeys.first(where: { ![.format, .file, .template].contains($0) }) {
        throw DecodingError.dataCorruptedError(
          forKey: key, in: values, debugDescription: "a Core Data store is written as a whole: leave it out")
      }
      guard template != nil else {
        throw DecodingError.dataCorruptedError(
          forKey: .template, in: values,
          debugDescription:
            "a Core Data store needs a template: a store that the app wrote, or the .momd from its bundle")
      }
    } else if template != nil {
      throw DecodingError.dataCorruptedError(
        forKey: .template, in: values, debugDescription: "only the format core-data has a template: leave it out")
    }
    if let compression, let reason = format.written?.refusal(of: compression) {
      throw DecodingError.dataCorruptedError(
        forKey: .compression, in: values, debugDescription: "\(reason): leave it out")
    }
  }

  /// What a file is called that the submission gives no name.
  func fileName(entity: String, job: Int64) -> String {
    file
      ?? "\(entity)-\(job).\(format == .coreData ? "sqlite" : format.rawValue)\(format.written?.ending(of: compression) ?? "")"
  }

  /// The delimiter's byte.
  func delimiterByte() throws -> UInt8 {
    let text = delimiter == "tab" ? "\t" : delimiter
    guard text.utf8.count == 1, let byte = text.utf8.first, byte == 9 || (0x20..<0x7F).contains(byte),
      byte != UInt8(ascii: "\"")
    else {
      throw Self.bad("the delimiter “\(delimiter.prefix(20))” isn't one character of ASCII, or tab, or it is the quote")
    }
    return byte
  }
}

/// What an export reads and how it writes it, derived from the options and the model before the file is created.
struct ExportPlan {
  /// A to-many relationship whose objects stand in each record.
  struct Collection {
    let relationship: RelationshipDescription
    /// The slots of the destination's attributes that are written.
    let slots: [Int]
  }

  /// Its columns are those of the layout, behind them the other properties of shared columns, and last the object itself if
  /// there are collections.
  var request: FetchRequest<ManagedObject>
  let layout: WrittenFormat.Layout
  let collections: [Collection]
  /// The places of the columns that the properties behind the layout's columns share.
  private let sharedColumns: [Int]
  /// What was left out, for people.
  let notes: [String]

  init(_ options: ExportOptions, _ entity: EntityDescription) throws {
    var columns = ExportColumns(entity, options)
    if let given = options.columns {
      guard !given.names.isEmpty else { throw ExportOptions.bad("columns names none: leave it out for all") }
      for name in given.names { try columns.add(name) }
    } else {
      try columns.addAll()
    }
    request = FetchRequest(
      entityName: entity.name, predicate: try options.predicate.map { try FetchPredicate(format: $0) },
      sortDescriptors: options.sort.names.map { name in
        name.hasPrefix("-")
          ? FetchSortDescriptor(String(name.dropFirst()), ascending: false) : FetchSortDescriptor(name)
      }, fetchLimit: options.limit, includesSubentities: options.subentities, includesPendingChanges: false)
    request.propertiesToFetch = columns.properties + columns.shared.map(\.property)
    sharedColumns = columns.shared.map(\.column)
    collections = columns.collections.map(\.source)
    if !collections.isEmpty {
      request.propertiesToFetch?.append(.expression(ExpressionDescription("lade.object", .keyPath("objectID"))))
    }
    layout = WrittenFormat.Layout(
      title: entity.name, columns: columns.columns, collections: columns.collections.map(\.written),
      delimiter: try options.delimiterByte())
    notes = columns.notes
  }

  /// Whether there are columns that several properties share.
  var sharesColumns: Bool { !sharedColumns.isEmpty }

  /// Puts the values of properties that share a column into it.
  /// - Throws: ``WriterError/conflictingValues(column:values:)`` for an object in which they differ.
  func merge(_ row: inout ContiguousArray<Value>) throws(WriterError) {
    for (index, column) in sharedColumns.enumerated() {
      let other = row[layout.columns.count + index]
      if other.isNull || row[column] == other { continue }
      guard row[column].isNull || row[column].plainText == other.plainText else {
        throw .conflictingValues(
          column: layout.columns[column].name, values: [row[column].plainText, other.plainText])
      }
      row[column] = other
    }
  }
}
