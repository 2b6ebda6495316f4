from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="RejectPlanDto")


@_attrs_define
class RejectPlanDto:
    """
    Attributes:
        comment (str | Unset):
        plan_digest (str | Unset): 409 unless it is the content_digest of the plan
    """

    comment: str | Unset = UNSET
    plan_digest: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        comment = self.comment

        plan_digest = self.plan_digest

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if comment is not UNSET:
            field_dict["comment"] = comment
        if plan_digest is not UNSET:
            field_dict["plan_digest"] = plan_digest

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        comment = d.pop("comment", UNSET)

        plan_digest = d.pop("plan_digest", UNSET)

        reject_plan_dto = cls(
            comment=comment,
            plan_digest=plan_digest,
        )

        reject_plan_dto.additional_properties = d
        return reject_plan_dto

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
