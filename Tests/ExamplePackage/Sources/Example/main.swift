// A company with two people, saved in the background and read by the view context; then a queue of jobs over such companies.
// Ends with 0 when everything came out as it should.

import Foundation
import ManagedObjects

let container = try PersistentContainer(model: CompanyModel.model, stores: [.inMemory()])
let id = UUID()
try await container.performBackgroundTask { context in
  let company = Company(context: context)
  company.name = "Difference Engines"
  company.address = Address(street: "Dorset Street 1", city: "London")
  let ada = Person(context: context)
  ada.id = id
  ada.name = "Ada"
  ada.state = "busy"
  ada.home = "Ockham"
  ada.slots = 3
  let charles = Manager(context: context)
  charles.name = "Charles"
  charles.committed = true
  company.employees = [charles, ada]
  try context.save()
}

// A main program runs on the main actor, which may keep the view context's objects.
let view = container.viewContext.context()
guard let read = try view.fetch(Company.fetchRequest()).first, let first = read.employees.first as? Manager,
  let last = read.employees.last, read.address?.city == "London", last.id == id, last.state == "busy",
  last.home == "Ockham", last.slots == 3, last.employer === read
else {
  print("the company didn't come back as it was saved")
  exit(1)
}
print("\(read.name ?? ""): \(first.title), \(last.name ?? "")")

try await CompanyJobs.run()
