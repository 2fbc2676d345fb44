//! Balancers from the command line.

use crate::binary::{files, folder, orthant, text};

/// What is measured is in rows that compare reads, and whatever holds a list is a list.
#[test]
fn lists_are_measured_and_compared() {
    let folder = folder("balance");
    std::fs::write(folder.join("mine.txt"), "3 # three\n\n0\n70000\n1\n").unwrap();
    let tree = "run mandelbrot -n 128 -q --backend cpu --keep regions -o m.tree.zarr";
    assert!(orthant(&folder, tree).status.success());
    let arguments = "balance run web-NotreDame --thin --sizes mine.txt --sizes m.tree.zarr --order given,clustered \
                     --backend cpu --samples 5 -o rows.jsonl";
    let output = orthant(&folder, arguments);
    let said = text(&output.stdout);
    assert!(output.status.success(), "{said}{}", text(&output.stderr));
    assert_eq!(said.matches("merge-path").count(), 6, "{said}");
    let whole =
        orthant(&folder, "balance run --sizes mine.txt --sizes m.tree.zarr --order given --backend cpu --samples 1");
    let whole = text(&whole.stdout);
    assert!(whole.contains("mine.txt, given: 4 items, 70004 units"), "{whole}");
    assert!(whole.contains(&format!("{} units", 128 * 128)), "{whole}");
    let compared = orthant(&folder, "compare rows.jsonl rows.jsonl --fail-above 0%");
    assert!(compared.status.success(), "{}", text(&compared.stderr));
    assert_eq!(text(&compared.stdout).matches("the same").count(), 18);
    assert_eq!(files(&folder), ["m.tree.zarr", "mine.txt", "rows.jsonl"]);
}

#[test]
fn lists_that_no_memory_holds_are_refused() {
    let folder = folder("balance-memory");
    std::fs::write(folder.join("huge.txt"), "4294967295\n".repeat(30_000)).unwrap();
    let output = orthant(&folder, "balance run --sizes huge.txt --backend cpu");
    let said = text(&output.stderr);
    assert!(output.status.code() == Some(5) && said.contains("cells of the units would take 468.8 TiB"), "{said}");
}
