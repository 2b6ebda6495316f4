from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.patch_operation_dto import PatchOperationDto


T = TypeVar("T", bound="RevisionDiffDto")


@_attrs_define
class RevisionDiffDto:
    """
    Attributes:
        from_ (str):
        patch (list[PatchOperationDto]): RFC 6902: applied to the first spec it makes the second
        to (str):
    """

    from_: str
    patch: list[PatchOperationDto]
    to: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from_ = self.from_

        patch = []
        for patch_item_data in self.patch:
            patch_item = patch_item_data.to_dict()
            patch.append(patch_item)

        to = self.to

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "from": from_,
                "patch": patch,
                "to": to,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.patch_operation_dto import PatchOperationDto

        d = dict(src_dict)
        from_ = d.pop("from")

        patch = []
        _patch = d.pop("patch")
        for patch_item_data in _patch:
            patch_item = PatchOperationDto.from_dict(patch_item_data)

            patch.append(patch_item)

        to = d.pop("to")

        revision_diff_dto = cls(
            from_=from_,
            patch=patch,
            to=to,
        )

        revision_diff_dto.additional_properties = d
        return revision_diff_dto

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
