from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.binding_limits_dto import BindingLimitsDto
    from ..models.bound_target_dto import BoundTargetDto
    from ..models.qualification_dto import QualificationDto
    from ..models.warning_dto import WarningDto


T = TypeVar("T", bound="BindingDto")


@_attrs_define
class BindingDto:
    """
    Attributes:
        created_at (datetime.datetime):
        drifted (bool): An adopted server of its revision has another model by now: no gateway calls it until it has the
            right one again
        id (str):  Example: bnd_0190f5c27bd87cc0a6b7d2f5e1a3c4d5.
        limits (BindingLimitsDto):
        product_id (str):
        qualification (QualificationDto):
        state (str): One of `unqualified`, `qualified`, `suspended`, `retired`.
        target (BoundTargetDto):
        target_digest (str): SHA-256; equal for equal targets
        warnings (list[WarningDto] | Unset):
    """

    created_at: datetime.datetime
    drifted: bool
    id: str
    limits: BindingLimitsDto
    product_id: str
    qualification: QualificationDto
    state: str
    target: BoundTargetDto
    target_digest: str
    warnings: list[WarningDto] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        created_at = self.created_at.isoformat()

        drifted = self.drifted

        id = self.id

        limits = self.limits.to_dict()

        product_id = self.product_id

        qualification = self.qualification.to_dict()

        state = self.state

        target = self.target.to_dict()

        target_digest = self.target_digest

        warnings: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.warnings, Unset):
            warnings = []
            for warnings_item_data in self.warnings:
                warnings_item = warnings_item_data.to_dict()
                warnings.append(warnings_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "created_at": created_at,
                "drifted": drifted,
                "id": id,
                "limits": limits,
                "product_id": product_id,
                "qualification": qualification,
                "state": state,
                "target": target,
                "target_digest": target_digest,
            }
        )
        if warnings is not UNSET:
            field_dict["warnings"] = warnings

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.binding_limits_dto import BindingLimitsDto
        from ..models.bound_target_dto import BoundTargetDto
        from ..models.qualification_dto import QualificationDto
        from ..models.warning_dto import WarningDto

        d = dict(src_dict)
        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        drifted = d.pop("drifted")

        id = d.pop("id")

        limits = BindingLimitsDto.from_dict(d.pop("limits"))

        product_id = d.pop("product_id")

        qualification = QualificationDto.from_dict(d.pop("qualification"))

        state = d.pop("state")

        target = BoundTargetDto.from_dict(d.pop("target"))

        target_digest = d.pop("target_digest")

        _warnings = d.pop("warnings", UNSET)
        warnings: list[WarningDto] | Unset = UNSET
        if _warnings is not UNSET:
            warnings = []
            for warnings_item_data in _warnings:
                warnings_item = WarningDto.from_dict(warnings_item_data)

                warnings.append(warnings_item)

        binding_dto = cls(
            created_at=created_at,
            drifted=drifted,
            id=id,
            limits=limits,
            product_id=product_id,
            qualification=qualification,
            state=state,
            target=target,
            target_digest=target_digest,
            warnings=warnings,
        )

        binding_dto.additional_properties = d
        return binding_dto

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
